import { isDeepStrictEqual } from 'node:util';
import {
  BOUND_EXAMPLES,
  parseBound,
  DISPATCHES,
  leastQueries,
  MAX_OUTSTANDING,
  MAX_QUERIES,
  numberFrom,
  oneOf,
  ownValue,
  PlatformError,
  positiveNumber,
  wholeNumber,
  z,
  maxOf,
  minOf,
} from '../../src/plugin-api.js';
import { isSearch, lengthProblem, MAX_TRIALS_MS } from './trial-length.js';

export const SCENARIOS = ['single', 'clients', 'server', 'batch', 'replay'] as const;
export type Scenario = (typeof SCENARIOS)[number];

const expectedBound = `a bound, as in ${BOUND_EXAMPLES}`;

export const fields = {
  rate: positiveNumber(1_000_000),
  clients: wholeNumber(1, 1024),
  samples: wholeNumber(1, 1024),
  waitMs: numberFrom(0, 60_000),
  queries: wholeNumber(2, MAX_QUERIES),
  seed: wholeNumber(0, 2 ** 31 - 1),
  searches: wholeNumber(1, 20),
  scale: positiveNumber(1000),
} as const;

const MAX_VALUES = 100;
/** They may all come at once. */
const MAX_ARRIVALS = MAX_OUTSTANDING;
/** Most sizes of runs that an agent has open. */
const MAX_SIZES = 64;

const listOf = <Schema extends z.ZodType>(one: Schema) => {
  return z
    .array(one)
    .min(1)
    .max(MAX_VALUES, { error: `at most ${MAX_VALUES} values` });
};

export const settingsSchema = z.strictObject({
  scenario: z.enum(SCENARIOS).default('single'),
  rates: listOf(fields.rate).optional().describe('Queries per second (server)'),
  bound: z
    .string()
    .refine((text) => parseBound(text) !== undefined, { error: expectedBound })
    .optional()
    .describe('Latency that a share of the queries must not exceed, as in 20ms@p99'),
  clients: listOf(fields.clients).optional().describe('Queries that are outstanding at a time (clients)'),
  think_ms: fields.waitMs.default(0).describe("From an answer to the client's next query (clients)"),
  batches: listOf(fields.samples).default([1]).describe('Samples of a query'),
  batch_limit: fields.samples.optional().describe('Most samples of one run; queries that wait join a run up to it'),
  max_wait_ms: fields.waitMs.default(0).describe('How long a query waits for others while the model is free'),
  arrivals: z
    .array(z.union([z.number().min(0), z.tuple([z.number().min(0), fields.samples])]))
    .min(2)
    .max(MAX_ARRIVALS, { error: `at most ${MAX_ARRIVALS} arrivals` })
    .optional()
    .describe('Times in ms since the start, or pairs of a time and samples (replay)'),
  scale: fields.scale.default(1).describe('Factor of the times (replay)'),
  queries: fields.queries.optional().describe('Least number of queries of a trial'),
  least_ms: numberFrom(0, MAX_TRIALS_MS)
    .optional()
    .describe(
      'Least length of a trial; by default 10 s (or 10,000 queries) where the largest rate is searched, else 0',
    ),
  seed: fields.seed.default(1),
  searches: fields.searches.default(1).describe('How often the largest rate is searched'),
  dispatch: z.enum(DISPATCHES).default('turns').describe('How several agents share the queries'),
  measure: z.boolean().default(true).describe('Whether the model runs'),
  predict: z.boolean().default(false).describe('Whether figures are predicted from stored estimates of dlbricks'),
});

export type LoadSettings = z.infer<typeof settingsSchema>;

/** The options of the command for settings. */
export const OPTIONS = {
  scenario: '--scenario',
  rates: '--rate',
  bound: '--bound',
  clients: '--clients',
  think_ms: '--think',
  batches: '--batch',
  batch_limit: '--batch-limit',
  max_wait_ms: '--max-wait',
  arrivals: '--arrivals',
  scale: '--scale',
  queries: '--queries',
  least_ms: '--duration',
  seed: '--seed',
  searches: '--searches',
  dispatch: '--dispatch',
} as const;

/** Of the values that the command's options gave. @throws PlatformError `usage` */
export function parseValues(given: z.input<typeof settingsSchema>): LoadSettings {
  const { data, error } = settingsSchema.safeParse(given);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const key = String(issue?.path[0]);
  const option = ownValue<string>(OPTIONS, key);
  throw new PlatformError('usage', `${key} (${option}): expected ${issue?.message}`);
}

/** What is put under load. */
export interface Loaded {
  /** Infinity before their number is known. */
  readonly agents: number;
  /** Whether a server of others has the model. */
  readonly isDeployed: boolean;
  /** Whether there are models, and not only generated texts. */
  readonly hasModels: boolean;
}

export function checkSettings(settings: LoadSettings, loaded: Loaded): void {
  const problem = unusedSetting(settings, loaded) ?? problemWith(settings, loaded);
  if (problem !== undefined) throw new PlatformError('usage', problem);
}

interface Use {
  readonly key: keyof typeof OPTIONS;
  /** What uses the setting. */
  readonly by: string;
  readonly isUsed: (settings: LoadSettings, loaded: Loaded) => boolean;
}

function useIn(key: Use['key'], ...scenarios: readonly Scenario[]): Use {
  const by = `--scenario ${oneOf(scenarios)}`;
  return { key, by, isUsed: ({ scenario }) => scenarios.includes(scenario) };
}

function useOfModels(key: Use['key']): Use {
  return { key, by: 'models, not for generated texts', isUsed: (_, { hasModels }) => hasModels };
}

const WITHOUT_DEPLOYMENT =
  'runs that this command makes or predicts (--validate), because the server of --deployment makes its own';

/** Settings that not every load uses; each may have several reasons. */
const USES: readonly Use[] = [
  useOfModels('batches'),
  useOfModels('batch_limit'),
  useOfModels('max_wait_ms'),
  useOfModels('searches'),
  useOfModels('dispatch'),
  useIn('rates', 'server'),
  useIn('bound', 'single', 'clients', 'server', 'replay'),
  useIn('clients', 'clients'),
  useIn('think_ms', 'clients'),
  useIn('batches', 'single', 'clients', 'server', 'batch'),
  useIn('batch_limit', 'clients', 'server', 'replay'),
  {
    key: 'max_wait_ms',
    by: '--scenario clients, server or replay whose queries share runs (--batch-limit)',
    isUsed: canShareRuns,
  },
  {
    key: 'batch_limit',
    by: WITHOUT_DEPLOYMENT,
    // A common queue gives a server as many samples at a time.
    isUsed: ({ predict, dispatch }, { isDeployed }) => !isDeployed || predict || dispatch === 'queue',
  },
  {
    key: 'max_wait_ms',
    by: WITHOUT_DEPLOYMENT,
    isUsed: ({ predict }, { isDeployed }) => !isDeployed || predict,
  },
  useIn('arrivals', 'replay'),
  useIn('scale', 'replay'),
  useIn('queries', 'single', 'clients', 'server', 'batch'),
  useIn('least_ms', 'single', 'clients', 'server'),
  {
    key: 'searches',
    by: '--scenario server that measures, with --bound and without --rate',
    isUsed: (settings) => isSearch(settings) && settings.measure,
  },
  {
    key: 'dispatch',
    by: 'a load of several agents (--agents)',
    isUsed: (_, { agents }) => agents > 1,
  },
];

function canShareRuns(settings: LoadSettings): boolean {
  const { scenario, batch_limit: limit } = settings;
  if (scenario === 'single' || scenario === 'batch') return false;
  const samples = samplesAsked(settings);
  const most = limit ?? (scenario === 'replay' ? maxOf(samples) : 0);
  return most > minOf(samples);
}

const DEFAULTS = settingsSchema.parse({});

/** A setting with its default counts as one that nobody gave. */
function unusedSetting(settings: LoadSettings, loaded: Loaded): string | undefined {
  const given = USES.filter(({ key }) => !isDeepStrictEqual(settings[key], DEFAULTS[key]));
  const unused = given.find(({ isUsed }) => !isUsed(settings, loaded));
  if (unused === undefined) return undefined;
  const { key, by } = unused;
  return `the scenario ${settings.scenario} does not use ${key} (${OPTIONS[key]}) here; it is for ${by}`;
}

function problemWith(settings: LoadSettings, { isDeployed }: Loaded): string | undefined {
  const { scenario, bound, arrivals, batches, batch_limit: limit } = settings;
  if (isSearch(settings) && bound === undefined) {
    return 'the scenario server needs rates (--rate 50,100), or a bound to search the largest rate for (--bound 20ms@p99)';
  }
  const asked = bound === undefined ? undefined : parseBound(bound);
  const least = asked === undefined ? 0 : leastQueries(asked.share, 0);
  if (isSearch(settings) && (settings.queries ?? least) < least) {
    return `a trial of a search needs at least ${least} queries to show ${bound}; choose more (--queries)`;
  }
  if (scenario === 'clients' && settings.clients === undefined) {
    return 'the scenario clients needs numbers of clients (--clients 1,2,4)';
  }
  if (scenario === 'replay') {
    if (arrivals === undefined) return 'the scenario replay needs arrivals (--arrivals FILE)';
    const times = arrivals.map(timeOf);
    const unsorted = times.findIndex((ms, index) => ms < (times[index - 1] ?? 0));
    if (unsorted >= 0) return `arrival ${unsorted + 1} is before the one above it; sort the times`;
    const lastMs = (times.at(-1) ?? 0) * settings.scale;
    if (lastMs > MAX_TRIALS_MS) {
      const problem = `the last arrival is ${Math.round(lastMs / 1000)} s after the start, and a trial has 12 hours at most`;
      return `${problem}; let the times begin near 0, or make them smaller (--scale)`;
    }
  }
  const largest = maxOf(samplesAsked(settings));
  if (limit !== undefined && limit < largest) {
    return `a query of ${largest} samples does not fit into runs of at most ${limit} (--batch-limit)`;
  }
  const sizes = settings.measure && !isDeployed ? mostSizes(settings) : 0;
  if (sizes > MAX_SIZES) {
    return `runs of ${sizes} sizes can occur, and ${MAX_SIZES} models can be open; choose a smaller limit (--batch-limit)`;
  }
  if (scenario === 'batch' && (settings.queries ?? 0) > MAX_OUTSTANDING) {
    return `the scenario batch sends all queries at once, and at most ${MAX_OUTSTANDING} can wait; choose fewer (--queries)`;
  }
  if (scenario === 'server' && batches.length > 1) return 'the scenario server takes one --batch';
  if (!settings.measure && !settings.predict) return 'nothing to do: measure and predict are both off';
  return lengthProblem(settings);
}

/** Of the runs of one trial. */
function mostSizes(settings: LoadSettings): number {
  const samples = samplesAsked(settings);
  const trials = settings.scenario === 'replay' ? [samples] : samples.map((one) => [one]);
  return maxOf(trials.map((of) => runSizes(of, limitOf(settings, of)).length));
}

function timeOf(arrival: NonNullable<LoadSettings['arrivals']>[number]): number {
  return typeof arrival === 'number' ? arrival : arrival[0];
}

export function replayedArrivals({ arrivals = [], scale }: LoadSettings) {
  return arrivals.map((arrival) => {
    return { atMs: timeOf(arrival) * scale, samples: typeof arrival === 'number' ? 1 : arrival[1] };
  });
}

export function samplesAsked(settings: LoadSettings): readonly number[] {
  const all =
    settings.scenario === 'replay' ? replayedArrivals(settings).map(({ samples }) => samples) : settings.batches;
  return [...new Set(all)];
}

/** Without a limit, a run has one query of any size. */
export function limitOf({ batch_limit: limit }: LoadSettings, samples: readonly number[]): number {
  return limit ?? maxOf(samples);
}

/** All sums of queries within the limit. */
export function runSizes(samples: readonly number[], limit: number): readonly number[] {
  const reachable = new Set<number>();
  const add = (sum: number): void => {
    for (const size of samples) {
      const next = sum + size;
      if (next > limit || reachable.has(next)) continue;
      reachable.add(next);
      add(next);
    }
  };
  add(0);
  return [...reachable].sort((a, b) => a - b);
}
