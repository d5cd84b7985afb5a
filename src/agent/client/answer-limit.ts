import { PlatformError } from '../../base/errors.js';
import type { Progress } from '../../generated/mlmodelscope/benchmark/v1/benchmark.js';
import type { RequestProgress } from '../benchmark-agent.js';
import { fromWireProgress } from '../wire/benchmark-wire.js';

/** Progress reports that a call may have at once, and in each further second. Agents send five in a second. */
const MAX_PROGRESS_AT_ONCE = 1000;
const MAX_PROGRESS_PER_S = 100;

interface Answer<Result> {
  readonly event?: { readonly $case: 'progress'; readonly value: Progress } | Result | undefined;
}

export interface AnswerOptions {
  readonly address: string;
  readonly mostResults: number;
  readonly onProgress?: ((progress: RequestProgress) => void) | undefined;
}

/** The results of a call. @throws PlatformError `internal` for more results or progress than was asked for */
export async function* resultsIn<Result extends { readonly $case: string }>(
  answers: AsyncIterable<Answer<Result>>,
  { address, mostResults, onProgress }: AnswerOptions,
): AsyncGenerator<Exclude<Result, { readonly $case: 'progress' }>> {
  const refused = (what: string): PlatformError =>
    new PlatformError('internal', `the agent at ${address} sends ${what}; do not use this agent`);
  const startMs = performance.now();
  let results = 0;
  let reports = 0;
  for await (const { event } of answers) {
    if (event?.$case === 'progress') {
      reports++;
      const allowed = MAX_PROGRESS_AT_ONCE + (MAX_PROGRESS_PER_S * (performance.now() - startMs)) / 1000;
      if (reports > allowed) throw refused('more progress than anyone could read');
      const progress = fromWireProgress((event as { readonly value: Progress }).value);
      if (progress !== undefined) onProgress?.(progress);
    } else {
      results++;
      if (results > mostResults) throw refused(`more than the ${mostResults} results asked for`);
      if (event !== undefined) yield event as Exclude<Result, { readonly $case: 'progress' }>;
    }
  }
}
