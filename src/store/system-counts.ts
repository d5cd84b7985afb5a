import { z } from 'zod';
import { sumOf } from '../base/sum-of.js';
import { conditionsSchema } from '../measurement/conditions.js';
import { isDisturbed } from '../measurement/disturbance.js';
import type { System } from '../measurement/system.js';

export interface SystemCounts {
  readonly system: System;
  measurements: number;
  failed: number;
  disturbed: number;
  oldest: string;
  newest: string;
}

/** The part of a stored measurement that is counted. `system` is its id. */
export const countedSchema = z.object({
  system: z.string(),
  measuredAt: z.string(),
  outcome: z.object({ kind: z.enum(['samples', 'failure']) }),
  conditions: conditionsSchema.optional(),
});

export type Counted = Omit<z.infer<typeof countedSchema>, 'system'> & { readonly system: System };

export async function countMeasurements(measurements: AsyncIterable<Counted>): Promise<readonly SystemCounts[]> {
  const counts = new Map<string, SystemCounts>();
  for await (const measurement of measurements) {
    const { system, outcome, measuredAt } = measurement;
    const known = counts.get(system.fingerprint) ?? {
      system,
      measurements: 0,
      failed: 0,
      disturbed: 0,
      oldest: measuredAt,
      newest: measuredAt,
    };
    known.measurements += 1;
    if (outcome.kind === 'failure') known.failed += 1;
    if (isDisturbed(measurement)) known.disturbed += 1;
    if (measuredAt < known.oldest) known.oldest = measuredAt;
    if (measuredAt > known.newest) known.newest = measuredAt;
    counts.set(system.fingerprint, known);
  }
  return [...counts.values()];
}

export function countAll(systems: readonly SystemCounts[]): number {
  return sumOf(systems.map(({ measurements }) => measurements));
}
