import { PlatformError } from '../../base/errors.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { fromWireEnum, toWireEnum } from '../../rpc/wire-enum.js';
import { EVALUATION_STATES, type EvaluationRecord, type EvaluationSummary } from '../records.js';

export function toWireEvaluation(record: EvaluationRecord): wire.Evaluation {
  const { id, name, plugin, state } = record;
  const times = { submittedAt: new Date(record.submittedAt), changedAt: new Date(record.changedAt) };
  return { id, name, plugin, state: toWireEnum(wire.Evaluation_State, state), ...times };
}

/** @throws PlatformError `internal` for a state that only a newer version knows */
export function fromWireEvaluation(message: wire.Evaluation | undefined): EvaluationSummary {
  const state = message && fromWireEnum(wire.Evaluation_State, EVALUATION_STATES, message.state);
  if (message === undefined || state === undefined) {
    throw new PlatformError('internal', 'the server gives an evaluation a state that this version does not know');
  }
  const { id, name, plugin, submittedAt = new Date(0), changedAt = new Date(0) } = message;
  return { id, name, plugin, state, submittedAt: submittedAt.toISOString(), changedAt: changedAt.toISOString() };
}
