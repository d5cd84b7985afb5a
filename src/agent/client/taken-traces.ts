import { TraceServiceService } from '../../generated/mlmodelscope/trace/v1/trace.js';
import type { RpcClient } from '../../rpc/client.js';
import { activeTracing } from '../../tracing/tracing.js';
import type { BenchmarkAgent } from '../benchmark-agent.js';
import { fromWireSpan } from '../wire/trace-wire.js';

const { takeSpans } = TraceServiceService;

/** An agent that does not hand its spans over at once is not waited for: the measurements are what matters. */
const TAKE_DEADLINE_MS = 5000;

/** As many as an agent holds; of one that sends more, no more are taken. */
const MOST_SPANS = 20_000;

/** The traces that an agent was part of, whose spans it is asked for in the end. */
export class TakenTraces {
  readonly #traceIds = new Set<string>();

  /** The same agent, with the traces remembered that its methods are called in. */
  ofEveryCall(agent: BenchmarkAgent): BenchmarkAgent {
    const remember = (): void => {
      const traceId = activeTracing()?.traceId();
      if (traceId !== undefined) this.#traceIds.add(traceId);
    };
    return {
      system: (...request) => (remember(), agent.system(...request)),
      measuresTogether: () => agent.measuresTogether(),
      measure: (...request) => (remember(), agent.measure(...request)),
      trace: (...request) => (remember(), agent.trace(...request)),
      inferTypes: (...request) => (remember(), agent.inferTypes(...request)),
      optimize: (...request) => (remember(), agent.optimize(...request)),
      close: () => agent.close(),
    };
  }

  /** Takes the agent's spans over, to wherever this process keeps its own. Without them a trace has gaps, no more. */
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
          if (taken >= MOST_SPANS) break;
        }
      } catch {
        return;
      }
    }
  }
}
