import { PlatformError } from '../../base/errors.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import type { EvaluationRecord, EvaluationState, EvaluationSummary } from '../records.js';

const STATES = {
  queued: wire.Evaluation_State.QUEUED,
  running: wire.Evaluation_State.RUNNING,
  done: wire.Evaluation_State.DONE,
  failed: wire.Evaluation_State.FAILED,
  cancelled: wire.Evaluation_State.CANCELLED,
} as const satisfies Record<EvaluationState, wire.Evaluation_State>;

export function toWireEvaluation(record: EvaluationRecord): wire.Evaluation {
  const { id, name, plugin, state } = record;
  const times = { submittedAt: new Date(record.submittedAt), changedAt: new Date(record.changedAt) };
  return { id, name, plugin, state: STATES[state], ...times };
}

/** @throws PlatformError `internal` for a state that only a newer version knows */
export function fromWireEvaluation(message: wire.Evaluation | undefined): EvaluationSummary {
  const state = (Object.keys(STATES) as EvaluationState[]).find((key) => STATES[key] === message?.state);
  if (message === undefined || state === undefined) {
    throw new PlatformError('internal', 'the server gives an evaluation a state that this version does not know');
  }
  const { id, name, plugin, submittedAt = new Date(0), changedAt = new Date(0) } = message;
  return { id, name, plugin, state, submittedAt: submittedAt.toISOString(), changedAt: changedAt.toISOString() };
}
