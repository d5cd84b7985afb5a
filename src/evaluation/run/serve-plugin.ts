import { messageOf, PlatformError } from '../../base/errors.js';
import { fromWireDuration } from '../../rpc/duration.js';
import type { OpenSpan } from '../../tracing/span.js';
import { activeTracing, traced } from '../../tracing/tracing.js';
import type { Evaluation } from '../evaluation.js';
import type { AgentEndpoint, PluginEnd, Run, RunKey } from '../link/link.js';
import { fromWireRun } from '../link/run-wire.js';
import { manifestJsonSchema } from '../manifest-schema.js';
import type { Submission } from '../submission.js';
import { toWireEvent } from '../wire/event-wire.js';
import { type PluginTools, runEvaluation } from './run-evaluation.js';

export const EVALUATION_SPAN = 'evaluation';

/** Two may be lost. */
const RENEWALS_PER_LEASE = 3;

/** An agent measures one benchmark at a time, so more evaluations would only wait for each other. */
const SLOTS = 1;

function runKey({ evaluationId, attempt }: RunKey): string {
  return `${evaluationId} ${attempt}`;
}

/** An agent that refuses the token that it made was started again and has not registered yet. */
function isUnreachable({ token }: AgentEndpoint, error: unknown): boolean {
  if (!(error instanceof PlatformError)) return false;
  return ['unavailable', 'timeout'].includes(error.code) || (error.code === 'unauthenticated' && token !== '');
}

export interface ServePluginOptions {
  readonly signal?: AbortSignal;
  readonly onRegistered?: () => void;
}

/** Ends when the link and the runs have ended. */
export async function servePlugin(
  evaluation: Evaluation,
  link: PluginEnd,
  tools: PluginTools,
  { signal, onRegistered }: ServePluginOptions = {},
): Promise<void> {
  const running = new Map<string, AbortController>();
  const runs = new Set<Promise<void>>();
  let renewal: NodeJS.Timeout | undefined;

  async function start(run: Run<Submission>, span: OpenSpan): Promise<void> {
    const controller = new AbortController();
    running.set(runKey(run), controller);
    const { evaluationId, attempt } = run;
    const connect = async (agent: AgentEndpoint): ReturnType<PluginTools['connect']> => {
      try {
        return await tools.connect(agent);
      } catch (error) {
        if (isUnreachable(agent, error)) {
          const value = { evaluationId, attempt, agent: agent.address, reason: messageOf(error) };
          await link.send({ $case: 'unreachable', value });
        }
        throw error;
      }
    };
    for await (const event of runEvaluation(evaluation, run, { ...tools, connect }, controller.signal)) {
      if (event.kind === 'failed') span.fail(new PlatformError(event.code, event.message));
      await link.send({ $case: 'runEvent', value: { evaluationId, attempt, event: toWireEvent(event) } });
    }
    running.delete(runKey(run));
  }

  function inTraceOf(run: Run<Submission>): Promise<void> {
    const attributes = { evaluation_id: run.evaluationId, plugin: evaluation.name, attempt: run.attempt };
    const work = (): Promise<void> =>
      traced(EVALUATION_SPAN, { level: 'APPLICATION_TRACE', attributes }, (span) => start(run, span));
    return activeTracing()?.under(run.traceContext, work) ?? work();
  }

  function track(run: Promise<void>): void {
    runs.add(run);
    void run.finally(() => runs.delete(run));
  }

  const close = (): void => link.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    const { name, version } = evaluation;
    const manifestSchemaJson = JSON.stringify(manifestJsonSchema(evaluation));
    await link.send({ $case: 'registration', value: { name, version, manifestSchemaJson, slots: SLOTS } });
    for await (const message of link) {
      switch (message.$case) {
        case 'registered': {
          const leaseMs = fromWireDuration(message.value.lease) ?? 0;
          if (leaseMs <= 0) throw new PlatformError('usage', 'the server gives no lease');
          clearInterval(renewal);
          renewal = setInterval(() => void link.send({ $case: 'renewal', value: {} }), leaseMs / RENEWALS_PER_LEASE);
          onRegistered?.();
          break;
        }
        case 'run':
          track(inTraceOf(fromWireRun(message.value)));
          break;
        case 'stop':
          running.get(runKey(message.value))?.abort(new PlatformError('cancelled', 'the platform asks to stop'));
          break;
      }
    }
  } finally {
    clearInterval(renewal);
    signal?.removeEventListener('abort', close);
    for (const controller of running.values()) {
      controller.abort(new PlatformError('cancelled', 'the connection to the platform ended'));
    }
    link.close();
    await Promise.allSettled(runs);
  }
}
