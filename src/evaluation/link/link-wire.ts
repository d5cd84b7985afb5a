// `fromWire…` returns undefined for a kind of message that only a newer version knows.
import { PlatformError } from '../../base/errors.js';
import type { AttachRequest, AttachResponse } from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { fromWireDuration, toWireDuration } from '../../rpc/duration.js';
import { fromWirePluginEvent, toWireEvent } from '../wire/event-wire.js';
import type { Submission } from '../submission.js';
import type { PlatformMessage, PluginMessage } from './link.js';
import type { AttachResponseInBytes } from './run-in-bytes.js';
import { fromWireSubmission } from '../wire/submission-wire.js';

export function toWirePluginMessage(message: PluginMessage): AttachRequest {
  switch (message.kind) {
    case 'registration':
      return { message: { $case: 'registration', value: message } };
    case 'renewal':
      return { message: { $case: 'renewal', value: {} } };
    case 'unreachable': {
      const { evaluation: evaluationId, attempt, agent, reason } = message;
      return { message: { $case: 'unreachable', value: { evaluationId, attempt, agent, reason } } };
    }
    case 'event': {
      const { evaluation: evaluationId, attempt, event } = message;
      return { message: { $case: 'runEvent', value: { evaluationId, attempt, event: toWireEvent(event) } } };
    }
  }
}

export function fromWirePluginMessage({ message }: AttachRequest): PluginMessage | undefined {
  switch (message?.$case) {
    case undefined:
      return undefined;
    case 'registration':
      return { kind: 'registration', ...message.value };
    case 'renewal':
      return { kind: 'renewal' };
    case 'unreachable': {
      const { evaluationId: evaluation, attempt, agent, reason } = message.value;
      return { kind: 'unreachable', evaluation, attempt, agent, reason };
    }
    case 'runEvent': {
      const { evaluationId: evaluation, attempt, event } = message.value;
      return { kind: 'event', evaluation, attempt, event: fromWirePluginEvent(event) };
    }
  }
}

export function toWirePlatformMessage(message: PlatformMessage<Uint8Array>): AttachResponseInBytes {
  const other = (response: AttachResponse['message']): AttachResponseInBytes => {
    return { kind: 'other', message: { message: response } };
  };
  switch (message.kind) {
    case 'registered':
      return other({ $case: 'registered', value: { lease: toWireDuration(message.leaseMs) } });
    case 'run': {
      const { evaluation: evaluationId, attempt, agents, traceContext, submission } = message;
      const [agent] = agents;
      const several = agents.length > 1 ? [...agents] : [];
      const measuring = { agent, agents: several };
      const run = { evaluationId, attempt, submission: undefined, ...measuring, traceContext: { ...traceContext } };
      return { kind: 'run', run, submission };
    }
    case 'stop':
      return other({ $case: 'stop', value: { evaluationId: message.evaluation, attempt: message.attempt } });
  }
}

export function fromWirePlatformMessage({ message }: AttachResponse): PlatformMessage<Submission> | undefined {
  switch (message?.$case) {
    case undefined:
      return undefined;
    case 'registered': {
      const leaseMs = fromWireDuration(message.value.lease) ?? 0;
      if (leaseMs <= 0) throw new PlatformError('usage', 'the server gives no lease');
      return { kind: 'registered', leaseMs };
    }
    case 'run': {
      const { evaluationId: evaluation, attempt, agent, agents: several, traceContext } = message.value;
      if (agent === undefined) throw new PlatformError('usage', 'the server names no agent');
      const submission = fromWireSubmission(message.value.submission);
      const agents = several.length > 0 ? several : [agent];
      return { kind: 'run', evaluation, attempt, submission, agents, traceContext };
    }
    case 'stop':
      return { kind: 'stop', evaluation: message.value.evaluationId, attempt: message.value.attempt };
  }
}
