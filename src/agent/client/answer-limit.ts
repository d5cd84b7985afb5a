import { PlatformError } from '../../base/errors.js';

/** Progress reports that a call may have at once, and in each further second. Agents send five in a second. */
const MAX_PROGRESS_AT_ONCE = 1000;
const MAX_PROGRESS_PER_S = 100;

export class AnswerLimit {
  #results = 0;
  #progress = 0;
  readonly #startMs = performance.now();

  constructor(
    private readonly address: string,
    private readonly mostResults: number,
  ) {}

  count(kind: string | undefined): void {
    if (kind === 'progress') {
      this.#progress += 1;
      const allowed = MAX_PROGRESS_AT_ONCE + (MAX_PROGRESS_PER_S * (performance.now() - this.#startMs)) / 1000;
      if (this.#progress > allowed) throw this.#refused('more progress than anyone could read');
    } else {
      this.#results += 1;
      if (this.#results > this.mostResults) throw this.#refused(`more than the ${this.mostResults} results asked for`);
    }
  }

  #refused(what: string): PlatformError {
    return new PlatformError('internal', `the agent at ${this.address} sends ${what}; do not use this agent`);
  }
}
