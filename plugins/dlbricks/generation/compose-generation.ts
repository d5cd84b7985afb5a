import type { ModelReport, Report } from '../report/report-schema.js';
import { type AtLength, type Generation, sumOverSteps } from './cache-lengths.js';
import type { Decoder } from './decoders.js';

type Key = 'estimate_ms' | 'estimate_low_ms' | 'estimate_high_ms' | 'end_to_end_ms';

/** Bounds are sums of bounds: the errors of one machine and method add up. Partial estimates give none. */
export function composeGenerations(
  report: Report,
  decoders: readonly Decoder[],
  generation: Generation,
): Report['generations'] {
  const byName = new Map(report.models.map((model) => [model.name, model]));
  const readValue = (model: ModelReport | undefined, key: Key): number | null => {
    return model?.coverage === 1 ? model[key] : null;
  };
  return decoders.map(({ name, prefill, steps }) => {
    const first = (key: Key): number | null => readValue(byName.get(prefill), key);
    const further = (key: Key): number | null => {
      const samples = steps.flatMap(({ length, model }): readonly AtLength[] => {
        const value = readValue(byName.get(model), key);
        return value === null ? [] : [[length, value]];
      });
      return samples.length < steps.length ? null : sumOverSteps(samples, generation);
    };
    return {
      model: name,
      prompt: generation.prompt,
      tokens: generation.tokens,
      first_token_ms: first('estimate_ms'),
      first_token_low_ms: first('estimate_low_ms'),
      first_token_high_ms: first('estimate_high_ms'),
      first_token_measured_ms: first('end_to_end_ms'),
      further_tokens_ms: further('estimate_ms'),
      further_tokens_low_ms: further('estimate_low_ms'),
      further_tokens_high_ms: further('estimate_high_ms'),
      further_tokens_measured_ms: further('end_to_end_ms'),
      cache_lengths: steps.map(({ length }) => length),
    };
  });
}
