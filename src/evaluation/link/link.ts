import type { Submission } from '../submission.js';
import type { PluginEvent } from '../event.js';

export interface Registration {
  readonly name: string;
  readonly version: string;
  /** JSON Schema (draft 2020-12) as JSON. */
  readonly manifestSchemaJson: string;
  readonly slots: number;
}

/** A message of an earlier run may arrive during a later one. */
export interface RunKey {
  readonly evaluation: string;
  readonly attempt: number;
}

export interface AgentEndpoint {
  readonly address: string;
  readonly tls: boolean;
  /** It works nowhere else; '' for none. */
  readonly token: string;
}

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
  /** The plugin cannot connect to an agent of the run, named by its address. */
  | ({ readonly kind: 'unreachable'; readonly agent: string; readonly reason: string } & RunKey)
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
