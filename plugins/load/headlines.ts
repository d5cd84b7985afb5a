import { counted, maxOf, minOf } from '../../src/plugin-api.js';
import type { GenerationRow, LoadResult, MeasuredLoad, SearchedRate } from './load-result.js';

export function perSecondText(value: number | null): string {
  return value === null ? '?' : `${Number(value.toPrecision(3))}/s`;
}

function predictedText({ predicted }: SearchedRate): string | undefined {
  if (predicted === null) return undefined;
  const { low_per_second: low, value_per_second: value, high_per_second: high, reason } = predicted;
  if (value === null) return `no prediction: ${reason ?? 'not known'}`;
  const interval =
    low === null || high === null ? 'without an interval' : `${perSecondText(low)} to ${perSecondText(high)}`;
  return `predicted ${perSecondText(value)} (${interval})`;
}

function measuredText({ measured }: SearchedRate): string | undefined {
  const rates = measured.flatMap(({ passed_per_second: passed }) => (passed === null ? [] : [passed]));
  const first = measured.find(({ passed_per_second: passed }) => passed !== null);
  if (measured.length === 0) return undefined;
  if (first === undefined) return `no rate was found: ${measured[0]?.stopped ?? 'not known'}`;
  const { chance_percent: chance } = first;
  const around = chance === null ? '' : ` ± ${chance.toPrecision(2)} % by chance`;
  const most = `measured ${perSecondText(first.passed_per_second)}${around} (${perSecondText(first.failed_per_second)} is too much)`;
  if (rates.length < 2) return most;
  const range = `${perSecondText(minOf(rates))} to ${perSecondText(maxOf(rates))}`;
  return `${most}, ${measured.length} searches from ${range}`;
}

/** That queries failed, and why the first one did; undefined where none did. */
export function failureText({ failed, queries, failure }: MeasuredLoad): string | undefined {
  if (failed === 0) return undefined;
  return `${failed} of ${counted(queries, 'query', 'queries')} failed, so there are no percentiles; the first one: ${failure ?? 'not known'}`;
}

/** Whether each trial holds the bound; those of a search are parts of its result. */
export function boundLines({ rows, rates, settings: { bound, scenario } }: LoadResult): readonly string[] {
  if (bound === null || rates.length > 0) return [];
  return rows.map(({ model, clients, offered_per_second: offered, measured, predicted }) => {
    const load =
      offered !== null
        ? `, ${perSecondText(offered)}`
        : clients === null || scenario === 'single'
          ? ''
          : `, ${counted(clients, 'client')}`;
    const verdict = (holds: boolean | null): string => {
      return holds === null ? 'not known whether it holds' : holds ? 'holds' : 'does not hold';
    };
    const verdicts = [
      ...(measured === null ? [] : [`measured: ${verdict(measured.holds)}`]),
      ...(predicted?.value == null ? [] : [`predicted: ${verdict(predicted.value.holds)}`]),
    ];
    return `${model}${load}, ${bound}: ${verdicts.join('; ') || 'not known'}`;
  });
}

export function rateLines({ rates, settings: { bound } }: LoadResult): readonly string[] {
  return rates.map((rate) => {
    const texts = [measuredText(rate), predictedText(rate)].filter((text) => text !== undefined);
    return `${rate.model} within ${bound ?? ''}: ${texts.join('; ')}`;
  });
}

function curveText(kind: string, curve: LoadResult['batches'][number]['measured']): readonly string[] {
  if (curve === null) return [];
  const { best_batch: best, largest_batch: largest, largest_samples_per_second: most, a_ms: a, b_ms: b } = curve;
  const { a_low_ms: aLow, a_high_ms: aHigh, b_low_ms: bLow, b_high_ms: bHigh } = curve;
  const { largest_residual_ms: residual, low_samples_per_second: low, high_samples_per_second: high } = curve;
  const text = (value: number): string => String(Number(value.toPrecision(3)));
  const withEnds = (value: number, least: number | null, most: number | null): string => {
    return least === null || most === null ? text(value) : `${text(value)} (${text(least)} to ${text(most)})`;
  };
  const negated = (value: number | null): number | null => (value === null ? null : -value);
  const ofBatch =
    b !== null && b < 0 ? `- ${withEnds(-b, negated(bHigh), negated(bLow))}` : `+ ${withEnds(b ?? 0, bLow, bHigh)}`;
  const line =
    a === null || b === null || residual === null
      ? ''
      : `; T(B) = ${withEnds(a, aLow, aHigh)} ${ofBatch} B ms, off by ${text(residual)} ms at most`;
  const ofBest = best === null ? 'the best batch is not among them' : `best batch ${best}`;
  const interval = low === null || high === null ? '' : `, ${text(low)} to ${text(high)}`;
  return [`${kind}: ${ofBest}, most with ${largest} (${text(most)}/s${interval}, while the model runs)${line}`];
}

export function batchLines({ batches }: LoadResult): readonly string[] {
  return batches.flatMap(({ model, measured, predicted }) => {
    return [...curveText('measured', measured), ...curveText('predicted', predicted)].map(
      (line) => `${model}, ${line}`,
    );
  });
}

function rangeText({ low, value, high }: GenerationRow['first_token_p50_ms']): string {
  const [least, middle, most] = [low, value, high].map((ms) => (ms === null ? '?' : String(Number(ms.toPrecision(3)))));
  return low === null || high === null ? `${middle} ms` : `${middle} ms (${least} to ${most})`;
}

export function generationLines({ generations }: LoadResult): readonly string[] {
  return generations.map((row) => {
    const { model, prompt, tokens, offered_per_second: offered, reason, further_token_ms: further } = row;
    const place = `${model}, ${counted(prompt, 'token')} and ${tokens} more${offered === null ? '' : `, ${perSecondText(offered)}`}`;
    if (reason !== null) return `${place}: no prediction: ${reason}`;
    const each = further === null ? '' : `, then ${Number(further.toPrecision(3))} ms for each token`;
    return `${place}: first token p50 ${rangeText(row.first_token_p50_ms)}, p99 ${rangeText(row.first_token_p99_ms)}${each}`;
  });
}
