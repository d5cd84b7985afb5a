import type { Plugin } from '../../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import type * as wire from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import type { Submission } from '../submission.js';
import type { PluginEvent } from '../event.js';

export type Registration = Readonly<wire.Registration>;

export type PluginSummary = Readonly<Plugin>;

/** A message of an earlier run may arrive during a later one. */
export type RunKey = Readonly<wire.Stop>;

export type AgentEndpoint = Readonly<wire.Agent>;

/** The platform sends the submission encoded, and the plugin receives it decoded. */
export interface Run<Submitted> extends RunKey {
  readonly submission: Submitted;
  /** The agents that may measure. The submission says how many of each system do. */
  readonly agents: readonly AgentEndpoint[];
  /** W3C trace context of the submitting client: traceparent, tracestate. */
  readonly traceContext: Readonly<Record<string, string>>;
}

export type PluginMessage =
  | ({ readonly kind: 'registration' } & Registration)
  | { readonly kind: 'renewal' }
  | ({ readonly kind: 'unreachable' } & Readonly<wire.Unreachable>)
  | ({ readonly kind: 'event'; readonly event: PluginEvent } & RunKey);

export type PlatformMessage<Submitted> =
  | { readonly kind: 'registered'; readonly leaseMs: number }
  | ({ readonly kind: 'run' } & Run<Submitted>)
  | ({ readonly kind: 'stop' } & RunKey);

/** One end of a connection. It can be iterated once. */
export interface Link<Sent, Received> extends AsyncIterable<Received> {
  send(message: Sent): Promise<void>;
  /** May be called again. */
  close(): void;
}

export type PlatformEnd = Link<PlatformMessage<Uint8Array>, PluginMessage>;
export type PluginEnd = Link<PluginMessage, PlatformMessage<Submission>>;
