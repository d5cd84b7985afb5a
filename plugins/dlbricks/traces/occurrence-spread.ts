import { groupedBy, mean } from '../../../src/plugin-api.js';
import type { Spread } from '../estimate/statistics.js';
import type { Occurrence } from './trace-book.js';

/** Least degrees of freedom of a layer's spread; layers with similar latency are added until there are as many. */
const ENOUGH_DEGREES = 30;

/** Rounds of fitting layers and processes in turn. Each round divides the remaining error by a few. */
const ROUNDS = 20;

export interface OccurrenceSpread {
  /** Between processes, over all layers of a process; undefined where the processes have no layer in common. */
  readonly process: Spread | undefined;
  /** Between occurrences of a layer with this latency, in addition; undefined where no layer occurs twice. */
  layer(ms: number): Spread | undefined;
}

interface Layer {
  readonly logMs: number;
  readonly squares: number;
  readonly degreesOfFreedom: number;
}

/**
 * Learns the spread from layers that occur more than once. The model is log ms = layer + process + residual. Layers and
 * processes are fitted in turn. The effect of a process is weighted by its layers' times, like the sum over a model. A
 * process that ran 5 % slower than others is off by 5 % in each of its layers, however many there are. The residual
 * averages out over a model.
 */
export function occurrenceSpread(occurrences: readonly Occurrence[]): OccurrenceSpread {
  const timed = occurrences.flatMap(({ identity, process, ms }) =>
    ms <= 0 ? [] : [{ identity, process, ms, log: Math.log(ms) }],
  );
  const layers = groupedBy(timed, ({ identity }) => identity);
  const repeated = [...layers.values()].filter((list) => list.length > 1);
  const isShared = (list: (typeof repeated)[number]): boolean => new Set(list.map(({ process }) => process)).size > 1;
  const shared = repeated.filter(isShared);
  const effects = new Map(shared.flat().map(({ process }) => [process, 0]));
  const effectOf = (process: string): number => effects.get(process) ?? 0;
  for (let round = 0; round < ROUNDS; round++) {
    const sums = new Map([...effects.keys()].map((process) => [process, { sum: 0, weight: 0 }]));
    for (const list of shared) {
      const center = mean(list.map(({ log, process }) => log - effectOf(process)));
      for (const { process, log, ms } of list) {
        const total = sums.get(process);
        if (total === undefined) continue;
        total.sum += ms * (log - center);
        total.weight += ms;
      }
    }
    for (const [process, { sum, weight }] of sums) effects.set(process, sum / weight);
    const middle = mean([...effects.values()]);
    for (const [process, effect] of effects) effects.set(process, effect - middle);
  }
  const degreesOfFreedom = effects.size - 1;
  const squares = [...effects.values()].reduce((sum, effect) => sum + effect ** 2, 0);
  const known = repeated
    .map((list): Layer => {
      const rests = list.map(({ log, process }) => log - effectOf(process));
      const center = mean(rests);
      return {
        logMs: mean(list.map(({ log }) => log)),
        squares: rests.reduce((sum, rest) => sum + (rest - center) ** 2, 0),
        degreesOfFreedom: rests.length - 1,
      };
    })
    .sort((a, b) => a.logMs - b.logMs);
  return {
    process: degreesOfFreedom < 1 ? undefined : { relative: Math.sqrt(squares / degreesOfFreedom), degreesOfFreedom },
    layer: (ms) => spreadNear(known, Math.log(Math.max(ms, Number.MIN_VALUE))),
  };
}

/** Pools the layers with similar latency, the closest first. */
function spreadNear(layers: readonly Layer[], logMs: number): Spread | undefined {
  let high = lowerBound(layers, logMs);
  let low = high - 1;
  let squares = 0;
  let degreesOfFreedom = 0;
  while (degreesOfFreedom < ENOUGH_DEGREES) {
    const below = layers[low];
    const above = layers[high];
    const takesBelow = below !== undefined && (above === undefined || logMs - below.logMs <= above.logMs - logMs);
    const next = takesBelow ? below : above;
    if (next === undefined) break;
    if (takesBelow) low--;
    else high++;
    squares += next.squares;
    degreesOfFreedom += next.degreesOfFreedom;
  }
  return degreesOfFreedom === 0 ? undefined : { relative: Math.sqrt(squares / degreesOfFreedom), degreesOfFreedom };
}

function lowerBound(layers: readonly Layer[], logMs: number): number {
  let low = 0;
  let high = layers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((layers[middle]?.logMs ?? Infinity) < logMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
