import { untilDone } from '../../base/cancellation.js';
import type { Clock } from '../../base/clock.js';
import { type ErrorCode, messageOf, PlatformError } from '../../base/errors.js';
import { keepTrying } from '../../base/keep-trying.js';
import {
  type Evaluation as WireEvaluation,
  EvaluationServiceService,
  type FollowEvaluationResponse,
} from '../../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import type { Event as WireEvent } from '../../generated/mlmodelscope/evaluation/v1/event.js';
import { createRpcClient, type RpcClientOptions } from '../../rpc/client.js';
import { isFinal, type LoggedEvent } from '../event.js';
import { fromWireLogged } from '../wire/event-wire.js';
import type { PluginSummary } from '../link/link.js';
import type { EvaluationSummary } from '../records.js';
import { fromWireEvaluation } from '../wire/record-wire.js';
import type { Submission } from '../submission.js';
import { toWireSubmission } from '../wire/submission-wire.js';

const { submitEvaluation, followEvaluation, getEvaluation, listEvaluations, cancelEvaluation, listPlugins } =
  EvaluationServiceService;

const CALL_DEADLINE_MS = 30_000;

/** The server reads every model before it answers. */
const SUBMIT_DEADLINE_MS = 5 * 60_000;

/** After this time the stream is opened again from its last event. */
const FOLLOW_DEADLINE_MS = 10 * 60_000;

const RETRY_MS = 1000;

const END_LIMIT_MS = 2000;

const OUTAGE_LIMIT_MS = 60_000;

export interface EvaluationClientOptions extends RpcClientOptions {
  readonly clock?: Clock | undefined;
}

/** Methods throw a PlatformError with the server's error, or where the server does not answer. */
export interface EvaluationClient {
  /** The same submission under the same id is the same evaluation. */
  submit(id: string, submission: Submission, signal?: AbortSignal): Promise<EvaluationSummary>;
  /** The events after a sequence number until the last one, also through a restart of the server. */
  follow(id: string, afterSequence: number, signal?: AbortSignal): AsyncIterable<LoggedEvent>;
  /** The last event comes without its result. */
  get(id: string): Promise<{ readonly evaluation: EvaluationSummary; readonly last: LoggedEvent | undefined }>;
  list(most: number): Promise<readonly EvaluationSummary[]>;
  cancel(id: string): Promise<EvaluationSummary>;
  plugins(): Promise<readonly PluginSummary[]>;
  close(): void;
}

function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof PlatformError ? error.code : undefined;
}

/** Older servers send the result in the event itself. */
function withResult(logged: LoggedEvent, parts: readonly string[]): LoggedEvent {
  if (logged.event.kind !== 'done' || parts.length === 0) return logged;
  return { ...logged, event: { ...logged.event, resultJson: parts.join('') } };
}

/** Waits, for a limited time, until the server ends the stream: then the call succeeds instead of being cancelled. */
function untilEnd(answers: AsyncIterator<unknown> | undefined): Promise<void> {
  return untilDone(AbortSignal.timeout(END_LIMIT_MS), (done) => {
    Promise.resolve(answers?.next()).then(done, done);
  });
}

export function connectEvaluations(address: string, options: EvaluationClientOptions = {}): EvaluationClient {
  const client = createRpcClient(address, 'server', options);

  const evaluationIn = ({ evaluation }: { readonly evaluation: WireEvaluation | undefined }): EvaluationSummary =>
    client.decodeAnswer(() => fromWireEvaluation(evaluation));

  const eventIn = (event: WireEvent | undefined): LoggedEvent | undefined =>
    client.decodeAnswer(() => fromWireLogged(event));

  async function* follow(id: string, afterSequence: number, signal?: AbortSignal): AsyncGenerator<LoggedEvent> {
    let after = afterSequence;
    let answers: AsyncIterator<FollowEvaluationResponse, undefined> | undefined;
    let parts: string[] = [];
    const next = async (hears: () => void): Promise<IteratorResult<FollowEvaluationResponse, undefined>> => {
      const request = { evaluationId: id, afterSequence: BigInt(after), resultInParts: true };
      const callOptions = { deadlineMs: FOLLOW_DEADLINE_MS, signal };
      answers ??= client.stream(followEvaluation, request, callOptions)[Symbol.asyncIterator]();
      try {
        return await answers.next();
      } catch (error) {
        answers = undefined;
        parts = [];
        if (codeOf(error) === 'timeout') hears();
        throw error;
      }
    };
    try {
      for (;;) {
        const answer = await keepTrying(next, {
          firstPauseMs: RETRY_MS,
          longestPauseMs: RETRY_MS,
          isPassing: (error) => codeOf(error) === 'timeout' || codeOf(error) === 'unavailable',
          limitMs: OUTAGE_LIMIT_MS,
          signal,
          clock: options.clock,
        }).catch((error: unknown) => {
          if (codeOf(error) !== 'unavailable') throw error;
          const advice = `when it answers, \`mlmodelscope evaluations follow ${id} --server ${address}\` shows the evaluation`;
          throw new PlatformError('unavailable', `${messageOf(error)}; ${advice}`, { cause: error });
        });
        // There are no events after the sequence number.
        if (answer.done === true) return;
        const { event } = answer.value;
        if (event?.event?.$case === 'resultPart') parts.push(event.event.value.json);
        const logged = eventIn(event);
        if (logged === undefined) continue;
        after = Math.max(after, logged.sequence);
        if (isFinal(logged.event)) await untilEnd(answers);
        yield withResult(logged, parts);
        if (isFinal(logged.event)) return;
      }
    } finally {
      await answers?.return?.();
    }
  }

  return {
    async submit(id, submission, signal) {
      const request = { evaluationId: id, submission: toWireSubmission(submission) };
      return evaluationIn(await client.unary(submitEvaluation, request, { deadlineMs: SUBMIT_DEADLINE_MS, signal }));
    },

    follow,

    async get(id) {
      const request = { evaluationId: id, withoutResult: true };
      const answer = await client.unary(getEvaluation, request, { deadlineMs: CALL_DEADLINE_MS });
      return { evaluation: evaluationIn(answer), last: eventIn(answer.lastEvent) };
    },

    async list(most) {
      const answer = await client.unary(listEvaluations, { pageSize: most }, { deadlineMs: CALL_DEADLINE_MS });
      return answer.evaluations.map((evaluation) => evaluationIn({ evaluation }));
    },

    async cancel(id) {
      return evaluationIn(await client.unary(cancelEvaluation, { evaluationId: id }, { deadlineMs: CALL_DEADLINE_MS }));
    },

    async plugins() {
      return (await client.unary(listPlugins, {}, { deadlineMs: CALL_DEADLINE_MS })).plugins;
    },

    close: () => client.close(),
  };
}
