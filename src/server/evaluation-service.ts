import type { handleServerStreamingCall, handleUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { once } from 'node:events';
import {
  type CancelEvaluationRequest,
  type CancelEvaluationResponse,
  EvaluationServiceService,
  type FollowEvaluationRequest,
  type FollowEvaluationResponse,
  type GetEvaluationRequest,
  type GetEvaluationResponse,
  type ListEvaluationsRequest,
  type ListEvaluationsResponse,
  type ListPluginsRequest,
  type ListPluginsResponse,
  type SubmitEvaluationRequest,
  type SubmitEvaluationResponse,
} from '../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { MAX_MESSAGE_BYTES } from '../rpc/limits.js';
import type { RpcServer } from '../rpc/server.js';
import { activeTracing } from '../tracing/tracing.js';
import { throwIfCancelled } from '../base/cancellation.js';
import { toWireLogged } from '../evaluation/wire/event-wire.js';
import type { Platform } from './platform.js';
import { toWireEvaluation } from '../evaluation/wire/record-wire.js';
import { fromWireSubmission } from '../evaluation/wire/submission-wire.js';

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 1000;

/** Writes, and waits as long as the client does not read. */
async function writeTo<T>(call: ServerWritableStream<unknown, T>, message: T, signal: AbortSignal): Promise<void> {
  if (call.write(message)) return;
  // An aborted wait is an aborted call, which the next look at the signal tells.
  await once(call, 'drain', { signal }).catch(() => undefined);
}

/** Adds the service by which evaluations are submitted and followed. */
export function addEvaluationService(server: RpcServer, platform: Platform): void {
  const { calls } = server;

  const submitEvaluation: handleUnaryCall<SubmitEvaluationRequest, SubmitEvaluationResponse> = (call, callback) => {
    void calls.answer(call, callback, async () => {
      const { evaluationId, submission } = call.request;
      const headers = activeTracing()?.headers();
      const record = await platform.submit(evaluationId, fromWireSubmission(submission), headers);
      return { evaluation: toWireEvaluation(record) };
    });
  };

  const followEvaluation: handleServerStreamingCall<FollowEvaluationRequest, FollowEvaluationResponse> = (call) => {
    void calls.stream(call, async (signal) => {
      const { evaluationId, afterSequence } = call.request;
      for await (const event of platform.follow(evaluationId, Number(afterSequence), signal)) {
        await writeTo(call, { event: toWireLogged(event) }, signal);
        throwIfCancelled(signal);
      }
      throwIfCancelled(signal);
    });
  };

  const getEvaluation: handleUnaryCall<GetEvaluationRequest, GetEvaluationResponse> = (call, callback) => {
    void calls.answer(call, callback, async () => {
      const { record, last } = await platform.get(call.request.evaluationId);
      return { evaluation: toWireEvaluation(record), lastEvent: last === undefined ? undefined : toWireLogged(last) };
    });
  };

  const listEvaluations: handleUnaryCall<ListEvaluationsRequest, ListEvaluationsResponse> = (call, callback) => {
    void calls.answer(call, callback, async () => {
      const size = Math.min(call.request.pageSize || DEFAULT_PAGE, LARGEST_PAGE);
      return { evaluations: (await platform.list()).slice(0, size).map(toWireEvaluation) };
    });
  };

  const cancelEvaluation: handleUnaryCall<CancelEvaluationRequest, CancelEvaluationResponse> = (call, callback) => {
    void calls.answer(call, callback, async () => {
      return { evaluation: toWireEvaluation(await platform.cancel(call.request.evaluationId)) };
    });
  };

  const listPlugins: handleUnaryCall<ListPluginsRequest, ListPluginsResponse> = (call, callback) => {
    void calls.answer(call, callback, () => ({ plugins: [...platform.plugins()] }));
  };

  server.addService(
    EvaluationServiceService,
    { submitEvaluation, followEvaluation, getEvaluation, listEvaluations, cancelEvaluation, listPlugins },
    { maxRequestBytes: { submitEvaluation: MAX_MESSAGE_BYTES } },
  );
}
