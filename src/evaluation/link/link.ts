import type { Submission } from '../submission.js';
import type { PluginEvent } from '../event.js';

export interface Registration {
  readonly name: string;
  readonly version: string;
  /** JSON Schema (draft 2020-12) of the evaluation manifests that it runs, as JSON. */
  readonly manifestSchemaJson: string;
  /** Evaluations that it can run at a time. */
  readonly slots: number;
}

/** Identifies a run of an evaluation: a message of an earlier run may arrive during a later one. */
export interface RunKey {
  readonly evaluation: string;
  /** From 1. */
  readonly attempt: number;
}

export interface AgentEndpoint {
  readonly address: string;
  readonly tls: boolean;
  /** The token to show to it, which works nowhere else; '' for none. */
  readonly token: string;
}

/** An evaluation to run. The platform sends the submission encoded, and the plugin receives it decoded. */
export interface Run<Submitted> extends RunKey {
  readonly submission: Submitted;
  /** The agents that may measure, at least one. The submission says how many agents of each system measure. */
  readonly agents: readonly AgentEndpoint[];
  /** W3C trace context of the client that submitted it: traceparent, tracestate. */
  readonly traceContext: Readonly<Record<string, string>>;
}

export type PluginMessage =
  | ({ readonly kind: 'registration' } & Registration)
  | { readonly kind: 'renewal' }
  | ({ readonly kind: 'event'; readonly event: PluginEvent } & RunKey);

export type PlatformMessage<Submitted> =
  | { readonly kind: 'registered'; readonly leaseMs: number }
  | ({ readonly kind: 'run' } & Run<Submitted>)
  | ({ readonly kind: 'stop' } & RunKey);

/**
 * One end of the connection between the platform and a plugin. Iterating it, which is possible once, gives the messages
 * of the other end.
 */
export interface Link<Sent, Received> extends AsyncIterable<Received> {
  send(message: Sent): Promise<void>;
  /** Ends the iterations at both ends. May be called again. */
  close(): void;
}

export type PlatformEnd = Link<PlatformMessage<Uint8Array>, PluginMessage>;
export type PluginEnd = Link<PluginMessage, PlatformMessage<Submission>>;
