import {
  type Bound,
  type LoadedModel,
  type LoadGenerator,
  PlatformError,
  type RanTrial,
  type RateSearching,
  searchRate,
  append,
} from '../../src/plugin-api.js';
import type { LoadRow, ModelLoad, SearchedRate } from './load-result.js';
import {
  measure,
  measureServiceMs,
  buildRow,
  noteLength,
  type Run,
  type Tried,
  withConditions,
} from './measure-trials.js';
import { byTurns, ModelPredictor, predictPlan, type Source } from './model-predictor.js';
import { chanceOfSearch, NO_RATE, predictRate, type SearchToSimulate } from './predict.js';
import { modelsBySize, unlessAborted, whileServing } from './serve.js';
import { limitOf } from './settings.js';
import { lengthProblem } from './trial-length.js';
import { firstSeed, serverTrial } from './trials.js';

/** Trials of a search between two observations of the machine. */
const TRIALS_OF_ROUND = 3;

const INTERRUPTED = { passed: null, failed: null, stopped: 'it was interrupted' };

/** Half of what the agents answer at most. */
function startRate(runMs: number, agents: number): number {
  return (500 * agents) / runMs;
}

interface Search {
  readonly bound: Bound;
  /** Of the first trial. */
  readonly seed: number;
}

/** @throws PlatformError where a run takes as long as the bound, and where trials take too long */
async function startSearch(loaded: LoadedModel, { bound, seed }: Search, generator: LoadGenerator, run: Run) {
  const serviceMs = await measureServiceMs(loaded, generator, run);
  if (serviceMs < bound.ms) {
    const rate = startRate(serviceMs, run.agents);
    const tooLong = lengthProblem(run.settings, 2 * rate);
    if (tooLong !== undefined) throw new PlatformError('unsupported', tooLong);
    if (seed === firstSeed(run.settings, 0)) noteLength(loaded.name, run, 2 * rate);
    return searchRate(rate, seed);
  }
  const [time, most] = [serviceMs, bound.ms].map((ms) => `${Number(ms.toPrecision(3))} ms`);
  const problem = `one run takes ${time}, so no rate holds the bound of ${most}; choose a larger bound (--bound)`;
  throw new PlatformError('unsupported', problem);
}

function simulatedSearch({ bound, seed }: Search, { settings, agents }: Run): SearchToSimulate {
  return {
    trialAt: (perSecond, ofTrial) => serverTrial(settings, perSecond, ofTrial, bound),
    startRate: (times) => startRate(times[0]?.ms ?? 1, agents),
    seed,
  };
}

/** With predictions, the trials are in rounds, each by turns with observations of the machine. */
async function searchOnce(loaded: LoadedModel, search: Search, run: Run, source: Source) {
  const { settings, place, loadedBatch, tell } = run;
  const predictor = source instanceof ModelPredictor ? source : undefined;
  const trialsOfRound = predictor === undefined ? Infinity : TRIALS_OF_ROUND;
  const [samples = 1] = settings.batches;
  const asked = { samples: [samples], limit: limitOf(settings, [samples]), waitMs: settings.max_wait_ms };
  const models = await modelsBySize(loaded, loadedBatch, asked, place);
  const rows: LoadRow[] = [];
  const ran: RanTrial[] = [];
  let searching: RateSearching | undefined;
  let step: ReturnType<RateSearching['next']> | undefined;

  const searchRound = async (generator: LoadGenerator): Promise<readonly Tried[]> => {
    searching ??= await startSearch(loaded, search, generator, run);
    step ??= searching.next();
    const tried: Tried[] = [];
    while (step.done !== true && tried.length < trialsOfRound && !place.signal.aborted) {
      const { perSecond, seed } = step.value;
      const done = rows.length + tried.length;
      tell('searching', done, done + 1, `${loaded.name}, ${perSecond.toPrecision(4)}/s`);
      const plan = serverTrial(settings, perSecond, seed, search.bound);
      const { row, trial } = await measure(loaded, plan, generator, run);
      tried.push({ plan, row });
      ran.push(trial);
      step = searching.next(row.measured?.holds ?? null);
    }
    return tried;
  };

  while (step?.done !== true && !place.signal.aborted) {
    const [served, predicting] = await byTurns(predictor, undefined, () =>
      unlessAborted(place.signal, whileServing(loaded.name, models, asked, place, searchRound)),
    );
    for (const { plan, row } of withConditions(served?.result ?? [], served?.ends ?? [])) {
      rows.push({ ...row, predicted: predictPlan(plan, source, predicting) });
    }
  }
  const found = step?.done === true ? step.value : { ...INTERRUPTED, trials: rows.length };
  const { passed, failed, trials, stopped } = found;
  const isKnown = passed !== null && asked.limit <= samples;
  const chance = isKnown ? chanceOfSearch(simulatedSearch(search, run), run.agents, ran) : undefined;
  return {
    rows,
    search: {
      passed_per_second: passed,
      failed_per_second: failed,
      chance_percent: chance === undefined ? null : 100 * chance,
      trials,
      stopped,
    },
  };
}

/** The largest rate within a bound, searched as often as the settings say, and predicted. @throws PlatformError */
export async function searchRates(loaded: LoadedModel, bound: Bound, run: Run, source: Source): Promise<ModelLoad> {
  const { settings, place } = run;
  const predictor = source instanceof ModelPredictor ? source : undefined;
  const rows: LoadRow[] = [];
  const searches: SearchedRate['measured'] = [];
  if (!settings.measure) await predictor?.predicting(undefined);
  for (let count = 0; settings.measure && count < settings.searches && !place.signal.aborted; count++) {
    const searched = await searchOnce(loaded, { bound, seed: firstSeed(settings, count) }, run, source);
    append(rows, searched.rows);
    searches.push(searched.search);
  }
  const predicting = place.signal.aborted ? undefined : predictor?.afterAll();
  const search = { bound, seed: firstSeed(settings, 0) };
  const predicted =
    source !== null && 'reason' in source
      ? { ...NO_RATE, reason: source.reason }
      : predicting === undefined
        ? null
        : predictRate(simulatedSearch(search, run), predicting);
  if (rows.length === 0 && predicted?.value_per_second != null) {
    const plan = serverTrial(settings, predicted.value_per_second, settings.seed, bound);
    rows.push({ ...buildRow(loaded, plan), measured: null, predicted: predictPlan(plan, source, predicting) });
  }
  return {
    rows,
    overhead: predictor?.overhead(),
    rate: {
      model: loaded.name,
      batch_limit: limitOf(settings, settings.batches.slice(0, 1)),
      measured: searches,
      predicted,
    },
  };
}
