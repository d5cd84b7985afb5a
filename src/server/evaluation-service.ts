import {
  type CancelEvaluationRequest,
  type CancelEvaluationResponse,
  EvaluationServiceService,
  type FollowEvaluationRequest,
  type FollowEvaluationResponse,
  type GetEvaluationRequest,
  GetEvaluationResponse,
  type ListEvaluationsRequest,
  type ListEvaluationsResponse,
  type ListPluginsRequest,
  type ListPluginsResponse,
  type SubmitEvaluationResponse,
} from '../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { type LargeAnswer, withLargeAnswers } from '../rpc/large-answer.js';
import { MAX_MESSAGE_BYTES } from '../rpc/limits.js';
import type { RpcServer } from '../rpc/server.js';
import { activeTracing } from '../tracing/tracing.js';
import { throwIfCancelled } from '../base/cancellation.js';
import type { Event } from '../generated/mlmodelscope/evaluation/v1/event.js';
import type { LoggedEvent } from '../evaluation/event.js';
import { toWireLogged, toWireWithheld } from '../evaluation/wire/event-wire.js';
import { Followers } from './followers.js';
import type { Platform } from './platform.js';
import { toWireEvaluation } from '../evaluation/wire/record-wire.js';
import { submitEvaluationInBytes, type SubmitRequest } from './submit-request.js';
import { tellInParts, wholeResult } from './tell-result.js';

const DEFAULT_PAGE = 100;
const MAX_PAGE_SIZE = 1000;

/** Numbers of the fields that have the event in a FollowEvaluationResponse and a GetEvaluationResponse. */
const FOLLOWED_EVENT = 1;
const LAST_EVENT = 2;

export function addEvaluationService(server: RpcServer, platform: Platform): void {
  const { calls } = server;
  const followers = new Followers();
  const opening = (call: { getPeer(): string }, id: string, logged: LoggedEvent) => (signal: AbortSignal) =>
    platform.openResult(id, logged, { signal, client: call.getPeer() });

  server.addService(
    {
      ...EvaluationServiceService,
      submitEvaluation: submitEvaluationInBytes,
      followEvaluation: withLargeAnswers(EvaluationServiceService.followEvaluation),
      getEvaluation: withLargeAnswers(EvaluationServiceService.getEvaluation),
    },
    {
      submitEvaluation: calls.unary<SubmitRequest, SubmitEvaluationResponse>(async (call, signal) => {
        const { evaluationId, submission } = call.request;
        const traceContext = activeTracing()?.headers();
        const record = await platform.submit(evaluationId, submission, {
          traceContext,
          signal,
          client: call.getPeer(),
        });
        return { evaluation: toWireEvaluation(record) };
      }),
      followEvaluation: calls.streaming<FollowEvaluationRequest, FollowEvaluationResponse | LargeAnswer>(
        async (call, signal) => {
          const { evaluationId, afterSequence, resultInParts } = call.request;
          const isTrusted = server.isTrusted(call);
          const send = (event: Event): Promise<void> => calls.send(call, { event }, signal);
          const leave = followers.add(call.getPeer());
          try {
            for await (const logged of platform.follow(evaluationId, Number(afterSequence), signal)) {
              if (logged.event.kind !== 'done') await send(toWireLogged(logged));
              else if (!isTrusted) await send(toWireWithheld(logged));
              else if (resultInParts) await tellInParts(logged, opening(call, evaluationId, logged), send, signal);
              else {
                const whole = wholeResult(logged, opening(call, evaluationId, logged), FOLLOWED_EVENT);
                await calls.send(call, whole, signal);
              }
            }
            throwIfCancelled(signal);
          } finally {
            leave();
          }
        },
      ),
      getEvaluation: calls.unary<GetEvaluationRequest, GetEvaluationResponse | LargeAnswer>(async (call, signal) => {
        const { evaluationId, withoutResult } = call.request;
        const { record, last } = await platform.get(evaluationId, signal);
        const evaluation = toWireEvaluation(record);
        if (last === undefined) return { evaluation, lastEvent: undefined };
        if (!server.isTrusted(call)) return { evaluation, lastEvent: toWireWithheld(last) };
        if (withoutResult || last.event.kind !== 'done') return { evaluation, lastEvent: toWireLogged(last) };
        const before = GetEvaluationResponse.encode({ evaluation, lastEvent: undefined }).finish();
        return wholeResult(last, opening(call, evaluationId, last), LAST_EVENT, before);
      }),
      listEvaluations: calls.unary<ListEvaluationsRequest, ListEvaluationsResponse>(async (call) => {
        const size = Math.min(call.request.pageSize || DEFAULT_PAGE, MAX_PAGE_SIZE);
        return { evaluations: (await platform.list()).slice(0, size).map(toWireEvaluation) };
      }),
      cancelEvaluation: calls.unary<CancelEvaluationRequest, CancelEvaluationResponse>(async (call) => {
        return { evaluation: toWireEvaluation(await platform.cancel(call.request.evaluationId)) };
      }),
      listPlugins: calls.unary<ListPluginsRequest, ListPluginsResponse>(() => ({ plugins: [...platform.plugins()] })),
    },
    { maxRequestBytes: { submitEvaluation: MAX_MESSAGE_BYTES } },
  );
}
