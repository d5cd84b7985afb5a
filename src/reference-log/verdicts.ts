import type { Provenance } from '../agent/provenance.js';
import { mean } from '../base/mean.js';
import { studentWidth } from '../measurement/student.js';
import type { LoggedModel, LoggedOutput } from './log-schema.js';

/** Of outputs of two builds of a framework that count as the same. */
export const TOLERANCE = 1e-3;

/** The widest interval that shows something. */
export const MAX_HALF_WIDTH = 0.1;

const TAIL = 0.05;

export const OUTPUT_VERDICTS = ['same', 'within tolerance', 'different', 'not known'] as const;
export const PERFORMANCE_VERDICTS = ['reproduced', 'different', 'unclear', 'not known'] as const;

export type OutputVerdict = (typeof OUTPUT_VERDICTS)[number];
export type PerformanceVerdict = (typeof PERFORMANCE_VERDICTS)[number];

/** The last of the list that occurs. */
export function worst<Verdict extends string>(
  order: readonly Verdict[],
  found: readonly Verdict[],
): Verdict | undefined {
  return order.findLast((verdict) => found.includes(verdict));
}

/** @param scale below which differences do not count */
function isNear(one: number, other: number, scale: number): boolean {
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other), scale);
}

function isNearOutput(one: LoggedOutput, other: LoggedOutput): boolean {
  const elements = Math.max(
    1,
    one.dims.reduce((product, dim) => product * dim, 1),
  );
  // The usual size of an element: a difference that is small beside it does not count.
  const scale = one.norm / Math.sqrt(elements);
  const near = one.first.every((value, index) => {
    const now = other.first[index];
    if (value === null || now === null || now === undefined) return value === now;
    return isNear(value, now, scale);
  });
  return near && isNear(one.norm, other.norm, 0) && one.not_finite === other.not_finite;
}

export function compareOutputs(
  logged: readonly LoggedOutput[] | null,
  now: readonly LoggedOutput[] | null,
): { readonly verdict: OutputVerdict; readonly detail: string } {
  if (logged === null || now === null) return { verdict: 'not known', detail: '' };
  const byName = new Map(now.map((output) => [output.name, output]));
  const different: string[] = [];
  let isSame = true;
  for (const output of logged) {
    const other = byName.get(output.name);
    const shape = ({ element_type, dims }: LoggedOutput): string => `${element_type}[${dims.join(', ')}]`;
    if (other === undefined) different.push(`${output.name} is missing`);
    else if (shape(output) !== shape(other))
      different.push(`${output.name} is ${shape(other)} instead of ${shape(output)}`);
    else if (output.sha256 !== other.sha256) {
      isSame = false;
      if (!isNearOutput(output, other))
        different.push(`${output.name} has the norm ${other.norm} instead of ${output.norm}`);
    }
  }
  if (different.length > 0) return { verdict: 'different', detail: different.join('; ') };
  return { verdict: isSame ? 'same' : 'within tolerance', detail: '' };
}

export function firstDifferentLayer(logged: LoggedModel['layers'], now: LoggedModel['layers']): string | undefined {
  const norms = new Map(now?.names.map((name, index) => [name, now.norms[index]]));
  return logged?.names.find((name, index) => {
    const norm = norms.get(name);
    return norm === undefined || !isNear(logged.norms[index] ?? 0, norm, 0);
  });
}

type Latency = Pick<LoggedModel, 'latency_ms' | 'low_ms' | 'high_ms'>;

/** @param ratio now over the log */
function verdictOn(ratio: number, low: number | null, high: number | null) {
  if (low === null || high === null) return { ratio, low, high, verdict: 'not known' as const };
  const contains = low <= 1 && high >= 1;
  const isNarrow = (high - low) / 2 / ratio <= MAX_HALF_WIDTH;
  const verdict: PerformanceVerdict = !contains ? 'different' : isNarrow ? 'reproduced' : 'unclear';
  return { ratio, low, high, verdict };
}

/**
 * Intervals are added in quadrature on a logarithmic scale. Without them, the log's figure is one process, and the
 * interval is the one in which the next process would be (Student's, for a prediction).
 */
export function comparePerformance(logged: Latency, now: readonly Latency[]) {
  const nothing = { ratio: null, low: null, high: null, verdict: 'not known' } as const;
  const [first] = now;
  const before = logged.latency_ms;
  if (!before || !first?.latency_ms) return nothing;
  if (logged.low_ms && logged.high_ms && first.low_ms && first.high_ms) {
    const ratio = first.latency_ms / before;
    const down = Math.hypot(Math.log(first.latency_ms / first.low_ms), Math.log(logged.high_ms / before));
    const up = Math.hypot(Math.log(first.high_ms / first.latency_ms), Math.log(before / logged.low_ms));
    return verdictOn(ratio, ratio * Math.exp(-down), ratio * Math.exp(up));
  }
  const logs = now.flatMap(({ latency_ms: ms }) => (ms ? [Math.log(ms)] : []));
  const count = logs.length;
  const center = mean(logs);
  const ratio = Math.exp(center) / before;
  if (count < 2) return verdictOn(ratio, null, null);
  const variance = logs.reduce((sum, one) => sum + (one - center) ** 2, 0) / (count - 1);
  const half = studentWidth(TAIL, count - 1) * Math.sqrt(variance * (1 + 1 / count));
  return verdictOn(ratio, ratio * Math.exp(-half), ratio * Math.exp(half));
}

const MATTERS: ReadonlySet<string> = new Set(
  'processor architecture cores processor_features framework framework_version node libc environment'.split(' '),
);

export function compareConditions(
  logged: Pick<Provenance, 'stack' | 'surroundings'>,
  now: Pick<Provenance, 'stack' | 'surroundings'>,
) {
  const factsOf = ({ stack, surroundings }: typeof now): ReadonlyMap<string, string | undefined> => {
    const facts = Object.entries({ ...stack, ...surroundings });
    return new Map(facts.map(([aspect, value]) => [aspect, value === null ? undefined : JSON.stringify(value)]));
  };
  const before = factsOf(logged);
  return [...factsOf(now)].flatMap(([aspect, value]) => {
    const was = before.get(aspect);
    if (value === undefined || was === undefined || value === was) return [];
    return [{ aspect, logged: was, now: value, matters: MATTERS.has(aspect) }];
  });
}
