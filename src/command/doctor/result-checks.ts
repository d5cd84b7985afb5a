import { z } from 'zod';
import { provenanceSchema } from '../../agent/provenance.js';
import { counted } from '../../base/counted.js';
import { minOf } from '../../base/long-lists.js';
import { sumOf } from '../../base/sum-of.js';
import { MIN_COMPOSITE_RUNS } from '../../composite/protocol-of-composite.js';
import type { Check } from './finding.js';
import { WHY } from './machine.js';

const name = z.string();
const number = z.number().nullable().catch(null);
const some = z.array(z.unknown()).nullable().catch(null);

const modelSchema = z.looseObject({
  name: name.optional().catch(undefined),
  model: name.optional().catch(undefined),
  batch: number,
  threads: number,
  coverage: number,
  runs: number,
  warmup_runs: number,
  disturbance_percent: number,
  dimensions: z
    .union([z.string(), z.array(z.looseObject({ name, size: z.number() }))])
    .nullable()
    .catch(null),
  kernel_differences: some,
  assumed_inputs: z.array(z.looseObject({ name })).nullable().catch(null),
  made_up_values: z.unknown().optional(),
  estimate_ms: number,
  bricks: z
    .array(z.looseObject({ occasions: z.number(), runs: z.number(), sequences: number, latency_ms: number }))
    .nullable()
    .catch(null),
  reason: name.nullable().catch(null),
});

/** The parts of documents that are checked. Each document has some of them. */
export const documentSchema = z.looseObject({
  provenance: provenanceSchema.nullable().catch(null),
  models: z.array(modelSchema).nullable().catch(null),
  settings: z.looseObject({ runs: number, warmup_runs: number, batch: number }).nullable().catch(null),
  system: z.looseObject({ threads: number }).nullable().catch(null),
  summary: z.looseObject({ spread_percent: number }).nullable().catch(null),
  warnings: z
    .array(z.union([name, z.looseObject({ cause: name, message: name })]))
    .nullable()
    .catch(null),
  overhead_ms: number,
  model_ms: number,
  features: z.unknown().optional(),
});

export type ResultDocument = z.infer<typeof documentSchema>;
type Model = z.infer<typeof modelSchema>;

const MIN_RUNS = 10;
const MAX_DISTURBANCE_PERCENT = 10;
const MAX_SPREAD_PERCENT = 5;
const MAX_TRACING_SHARE = 0.05;
const MAX_CALL_SHARE = 0.05;

/** A document of latencies has several rows of a model: with what they differ in, as in "net (batch 4)". */
function labelOf(row: Model, all: readonly Model[]): string {
  const nameOf = ({ name: of, model }: Model): string => of ?? model ?? '';
  const rows = all.filter((other) => nameOf(other) === nameOf(row));
  const differs = (key: 'batch' | 'threads' | 'dimensions'): boolean => new Set(rows.map((one) => one[key])).size > 1;
  const parts = [
    ...(differs('batch') ? [`batch ${row.batch}`] : []),
    ...(differs('threads') ? [`threads ${row.threads}`] : []),
    ...(typeof row.dimensions === 'string' && differs('dimensions') ? [row.dimensions] : []),
  ];
  return parts.length === 0 ? nameOf(row) : `${nameOf(row)} (${parts.join(', ')})`;
}

function ofModels(document: ResultDocument, has: (model: Model) => boolean): Model[] {
  return (document.models ?? []).filter(has);
}

/** @param text about the names of the models that have it; no text where none has it */
function naming(has: (model: Model) => boolean, text: (names: string) => string) {
  return (document: ResultDocument): string | undefined => {
    const found = ofModels(document, has);
    return found.length === 0
      ? undefined
      : text([...new Set(found.map((row) => labelOf(row, document.models ?? [])))].join(', '));
  };
}

/** What the call from JavaScript takes of an estimate, a sum of bricks and of calls; 0 where it is not known. */
function callShare({ estimate_ms: whole, bricks, coverage: share }: Model): number {
  if (whole === null || whole <= 0 || bricks === null || bricks.length === 0 || share !== 1) return 0;
  const times = bricks.map(({ latency_ms: ms, sequences }) =>
    ms === null || sequences === null ? NaN : ms * sequences,
  );
  const rest = 1 - sumOf(times) / whole;
  return Number.isNaN(rest) ? 0 : rest;
}

/** Whether more of a model's time was measured once than again: bricks of little time have one occasion as a rule. */
function isMostlyOfOneOccasion({ bricks }: Model): boolean {
  const timed = (bricks ?? []).map(({ latency_ms: ms, sequences, occasions }) => {
    return { ms: (ms ?? 0) * (sequences ?? 1), occasions };
  });
  const once = sumOf(timed.map(({ ms, occasions }) => (occasions === 1 ? ms : 0)));
  const again = sumOf(timed.map(({ ms, occasions }) => (occasions > 1 ? ms : 0)));
  return once > again;
}

export const CHECKS: readonly Check<ResultDocument>[] = [
  {
    id: 'no_provenance',
    level: 'refuse',
    find: ({ provenance }) => (provenance === null ? 'the document has no provenance' : undefined),
    why: 'nobody can say which files, which version and which machine its numbers are of',
    remedy: 'make it again with this version',
  },
  {
    id: 'no_checksum',
    level: 'info',
    find: ({ provenance }) => {
      const of = provenance?.models ?? [];
      const without = of.filter(({ file_sha256: sha256, source }) => sha256 === null && source !== 'zoo');
      if (without.length === 0) return undefined;
      return `no checksum of the file: ${without.map((model) => model.name).join(', ')}`;
    },
    why: 'a changed file of the same name would not be noticed',
    remedy: 'name a model manifest with a checksum instead of the file',
  },
  {
    id: 'made_up_weights',
    level: 'refuse',
    find: ({ provenance, features }) => {
      const madeUp = (provenance?.models ?? []).filter(({ weights }) => weights === 'made_up');
      if (features === undefined || madeUp.length === 0) return undefined;
      return `predictions with made-up weights: ${madeUp.map((model) => model.name).join(', ')}`;
    },
    why: 'such predictions mean nothing, and neither does their accuracy',
    remedy: 'name the manifest of a model whose file has real weights',
  },
  {
    id: 'few_runs',
    level: 'warn',
    find: ({ models, settings }) => {
      const timed = (models ?? []).flatMap(({ runs }) => runs ?? []);
      const fewest = Math.min(settings?.runs ?? Infinity, minOf(timed));
      if (fewest < MIN_RUNS) return `a latency is of ${counted(fewest, 'run')}`;
      const ofBricks = (models ?? []).flatMap(({ bricks }) => bricks?.map((brick) => brick.runs) ?? []);
      const fewestOfBricks = minOf(ofBricks);
      return fewestOfBricks < MIN_COMPOSITE_RUNS ? `a brick has ${counted(fewestOfBricks, 'run')}` : undefined;
    },
    why: 'one disturbed run moves the mean of so few',
    remedy: `measure at least ${MIN_RUNS} times (--runs, or \`min_runs\` in the protocol of a manifest)`,
  },
  {
    id: 'no_warm_up',
    level: 'warn',
    find: ({ settings, provenance }) => {
      const runs = settings?.warmup_runs ?? provenance?.protocol?.warmup_runs ?? 1;
      return runs > 0 ? undefined : 'no run was a warm-up';
    },
    why: 'the first runs allocate memory and fill caches, and take longer',
    remedy: 'measure again with --warmup 3 or more',
  },
  {
    id: 'one_occasion',
    level: 'warn',
    find: naming(isMostlyOfOneOccasion, (names) => `most of the time of ${names} was measured on one occasion`),
    why: 'each process places its memory anew, and the spread between processes stays unknown',
    remedy: 'leave --repeat-limit out, or raise it',
  },
  {
    id: 'wide_spread',
    level: 'warn',
    find: ({ summary }) => {
      const percent = summary?.spread_percent ?? 0;
      if (percent <= MAX_SPREAD_PERCENT) return undefined;
      return `a brick differs by ${percent.toFixed(1)} % between processes (standard deviation)`;
    },
    why: 'a smaller difference between two results may be chance',
    remedy: 'measure on a quieter machine, or both sides by turns (mlmodelscope compare A B -- MODEL)',
  },
  {
    id: 'disturbed',
    level: 'warn',
    find: naming(
      ({ disturbance_percent: percent }) => (percent ?? 0) > MAX_DISTURBANCE_PERCENT,
      (names) => `other processes disturbed ${names}`,
    ),
    why: WHY.other_load,
    remedy: 'stop them, and measure again with --remeasure disturbed',
  },
  {
    id: 'incomplete',
    level: 'warn',
    find: naming(
      ({ coverage, reason }) => (coverage ?? 1) < 1 || reason !== null,
      (names) => `not measured completely: ${names}`,
    ),
    why: 'the number is of a part of the model, or there is none',
    remedy: 'the document has the reason of each missing part; run the same command again',
  },
  {
    id: 'other_kernels',
    level: 'refuse',
    find: naming(
      ({ kernel_differences: differences }) => (differences ?? []).length > 0,
      (names) => `other kernels than with the weights of the file: ${names}`,
    ),
    why: 'the estimate is of another graph than the one that would run',
    remedy: 'compare these models by their whole latency (mlmodelscope latency)',
  },
  {
    id: 'made_up_values',
    level: 'warn',
    find: naming(
      (model) => (model.assumed_inputs ?? []).length > 0 || (model.made_up_values ?? null) !== null,
      (names) => `work depends on made-up values: ${names}`,
    ),
    why: 'loops, masks and suppressions do more or less work with real inputs',
    remedy: 'give the values with --input, or use --values-of-run',
  },
  {
    id: 'bound_dimensions',
    level: 'info',
    find: (document) => {
      const sizes = ofModels(document, ({ dimensions }) => (dimensions ?? '').length > 0).map(({ dimensions: of }) => {
        return typeof of === 'string' ? of : (of ?? []).map(({ name: symbol, size }) => `${symbol}=${size}`).join(', ');
      });
      if (sizes.length === 0) return undefined;
      return `the files leave dimensions open, which are ${[...new Set(sizes)].join('; ')} here`;
    },
    why: 'another size is another amount of work',
    remedy: 'state each size with --dimension, or in the manifest',
  },
  {
    id: 'tracing',
    level: 'refuse',
    find: ({ overhead_ms: overhead, model_ms: whole }) => {
      if (overhead === null || whole === null || overhead <= whole * MAX_TRACING_SHARE) return undefined;
      return `tracing took ${((overhead / whole) * 100).toFixed(0)} % of the model's time`;
    },
    why: 'times of traced kernels contain the cost of the trace, so that they are no latencies',
    remedy: 'time the model with mlmodelscope latency',
  },
  {
    id: 'binding_overhead',
    level: 'info',
    find: (document) => {
      const found = ofModels(document, (model) => callShare(model) > MAX_CALL_SHARE);
      if (found.length === 0) return undefined;
      const all = document.models ?? [];
      const shares = found.map((model) => `${labelOf(model, all)} ${(callShare(model) * 100).toFixed(0)} %`);
      return `binding costs: ${shares.join(', ')}`;
    },
    why: 'the call from JavaScript and the handing over of outputs are in the latency, and other languages have other calls',
    remedy: 'compare kernels, or a larger batch, where another binding is to be compared',
  },
  {
    id: 'decoder',
    level: 'info',
    find: ({ provenance, features }) => {
      const version = provenance?.surroundings?.decoder ?? null;
      return features === undefined || version === null ? undefined : `pictures were decoded by ${version}`;
    },
    why: 'decoders of JPEG differ by a level or two in many pixels, and predictions may differ with them',
    remedy: 'compare with predictions of the same decoder',
  },
];
