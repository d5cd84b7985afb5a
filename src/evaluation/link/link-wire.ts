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
    case 'unreachable':
      return { message: { $case: 'unreachable', value: message } };
    case 'event':
      return { message: { $case: 'runEvent', value: { ...message, event: toWireEvent(message.event) } } };
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
    case 'unreachable':
      return { kind: 'unreachable', ...message.value };
    case 'runEvent':
      return { kind: 'event', ...message.value, event: fromWirePluginEvent(message.value.event) };
  }
}

export function toWirePlatformMessage(message: PlatformMessage<Uint8Array>): AttachResponseInBytes {
  switch (message.kind) {
    case 'registered':
      return { message: { $case: 'registered', value: { lease: toWireDuration(message.leaseMs) } } };
    case 'run': {
      const { evaluationId, attempt, agents, traceContext, submission } = message;
      const measuring = { agent: agents[0], agents: agents.length > 1 ? [...agents] : [] };
      const run = { evaluationId, attempt, submission: undefined, ...measuring, traceContext: { ...traceContext } };
      return { message: { $case: 'run', value: run }, submission };
    }
    case 'stop':
      return { message: { $case: 'stop', value: message } };
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
      const { agent, agents: several, submission, ...run } = message.value;
      if (agent === undefined) throw new PlatformError('usage', 'the server names no agent');
      const agents = several.length > 0 ? several : [agent];
      return { kind: 'run', ...run, submission: fromWireSubmission(submission), agents };
    }
    case 'stop':
      return { kind: 'stop', ...message.value };
  }
}
