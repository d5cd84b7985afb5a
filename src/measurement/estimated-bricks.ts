import { z } from 'zod';

/** The parts of an estimate, as logs and stores have them: only signatures and operators, never names of a model. */
export const estimatedBricks = {
  spread_percent: z
    .number()
    .nonnegative()
    .nullable()
    .describe('Standard deviation between occasions of measuring one brick; null where it is not known'),
  bricks: z.array(
    z.strictObject({
      signature: z.string(),
      operators: z.array(z.string()),
      sequences: z.int().min(0).describe('Places of the model that it stands for'),
      latency_ms: z.number().nonnegative().nullable(),
      occasions: z.int().min(0).describe('Processes that measured it; 0: its latency is predicted'),
    }),
  ),
};

export type EstimatedBricks = Readonly<{
  [Key in keyof typeof estimatedBricks]: z.infer<(typeof estimatedBricks)[Key]>;
}>;
