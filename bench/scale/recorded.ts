import { z } from 'zod';
import { runFiguresSchema } from './figures.js';
import { storeSizeSchema } from './store-size.js';

/** Runs of one size on one machine, as a file in out/scale keeps them. */
export const recordedSchema = z.strictObject({
  date: z.string(),
  machine: z.string(),
  database: z.string(),
  agents: z.int(),
  servers: z.int(),
  brickMs: z.number(),
  runs: z.array(runFiguresSchema),
});

export type Recorded = Readonly<z.infer<typeof recordedSchema>>;

/** The sizes of measurements in a store, as a file in out/scale keeps them. */
export const recordedSizesSchema = z.strictObject({
  date: z.string(),
  database: z.string(),
  sizes: z.array(storeSizeSchema),
});

export type RecordedSizes = Readonly<z.infer<typeof recordedSizesSchema>>;
