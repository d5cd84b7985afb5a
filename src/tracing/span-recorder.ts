import { messageOf } from '../base/errors.js';
import type { SpanOptions, TimedSpan } from './span.js';
import { includesLevel, type TraceLevel } from './trace-level.js';
import { unixNanoNow } from './unix-time.js';

/** Records spans for another process: a worker only measures, and sends none. */
export class SpanRecorder {
  #spans: TimedSpan[] = [];

  constructor(readonly level: TraceLevel) {}

  wants(level: TraceLevel): boolean {
    return includesLevel(this.level, level);
  }

  add(span: TimedSpan): void {
    if (this.wants(span.level)) this.#spans.push(span);
  }

  /** Spans that are recorded meanwhile are children of this one. The span has the work's error. */
  async section<T>(name: string, options: Partial<SpanOptions>, work: () => Promise<T>): Promise<T> {
    const { level = 'APPLICATION_TRACE', attributes = {} } = options;
    if (!this.wants(level)) return work();
    const siblings = this.#spans;
    const children: TimedSpan[] = [];
    this.#spans = children;
    const startUnixNano = unixNanoNow();
    const end = (error?: string): void => {
      this.#spans = siblings;
      const durationNs = Number(unixNanoNow() - startUnixNano);
      siblings.push({ name, level, startUnixNano, durationNs, attributes, children, error });
    };
    try {
      const result = await work();
      end();
      return result;
    } catch (thrown) {
      end(messageOf(thrown));
      throw thrown;
    }
  }

  take(): readonly TimedSpan[] {
    const spans = this.#spans;
    this.#spans = [];
    return spans;
  }
}
