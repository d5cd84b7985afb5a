import { TraceServiceService } from '../../generated/mlmodelscope/trace/v1/trace.js';
import type { RpcClient } from '../../rpc/client.js';
import { activeTracing } from '../../tracing/tracing.js';
import { fromWireSpan } from '../wire/trace-wire.js';

const { takeSpans } = TraceServiceService;

/** The time limit for fetching spans. It is short, because the measurements matter more than their trace. */
const TAKE_DEADLINE_MS = 5000;

/** Most spans taken from an agent: as many as an agent keeps. */
const MAX_SPANS = 20_000;

export class TakenTraces {
  readonly #traceIds = new Set<string>();

  remember(): void {
    const traceId = activeTracing()?.traceId();
    if (traceId !== undefined) this.#traceIds.add(traceId);
  }

  /** Fetches the agent's spans and adds them to the spans of this process. A failure only leaves gaps in the trace. */
  async take(client: RpcClient): Promise<void> {
    const traceIds = [...this.#traceIds];
    this.#traceIds.clear();
    for (const traceId of traceIds) {
      try {
        let taken = 0;
        for await (const { spans } of client.stream(takeSpans, { traceId }, { deadlineMs: TAKE_DEADLINE_MS })) {
          const own = spans.filter((span) => span.traceId === traceId).map(fromWireSpan);
          activeTracing()?.addSpans(own);
          taken += spans.length;
          if (taken >= MAX_SPANS) break;
        }
      } catch {
        return;
      }
    }
  }
}
