import type { Plugin } from '../../generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import type * as wire from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';

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

export type PluginMessage = NonNullable<wire.AttachRequest['message']>;

export type PlatformMessage = NonNullable<wire.AttachResponse['message']>;

type RunInBytes = { $case: 'run'; value: Omit<wire.Run, 'submission'> & { submission: Uint8Array } };

/** As the platform sends it. */
export type PlatformMessageInBytes = Exclude<PlatformMessage, { $case: 'run' }> | RunInBytes;

/** One end of a connection. It can be iterated once. */
export interface Link<Sent, Received> extends AsyncIterable<Received> {
  send(message: Sent): Promise<void>;
  /** May be called again. */
  close(): void;
}

export type PlatformEnd = Link<PlatformMessageInBytes, PluginMessage>;
export type PluginEnd = Link<PluginMessage, PlatformMessage>;
