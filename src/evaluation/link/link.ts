import type { Submission } from '../submission.js';
import type { PluginEvent } from '../event.js';

/** What a plugin says of itself when it comes. */
export interface Registration {
  readonly name: string;
  readonly version: string;
  /** JSON Schema (draft 2020-12) of the evaluation manifests that it runs, as JSON. */
  readonly manifestSchemaJson: string;
  /** Evaluations that it can run at a time. */
  readonly slots: number;
}

/** Which run of an evaluation is meant: a later one may be under way when word of an earlier one comes. */
export interface RunKey {
  readonly evaluation: string;
  /** From 1. */
  readonly attempt: number;
}

/** Where an agent serves. */
export interface AgentEndpoint {
  /** host:port */
  readonly address: string;
  readonly tls: boolean;
}

/** An evaluation to run. The platform gives its submission as it travels, a plugin gets it read. */
export interface Run<Submitted> extends RunKey {
  readonly submission: Submitted;
  /** What measures. */
  readonly agent: AgentEndpoint;
  /** W3C trace context of the client that submitted it: traceparent, tracestate. */
  readonly traceContext: Readonly<Record<string, string>>;
}

/** From a plugin to the platform. */
export type PluginMessage =
  | ({ readonly kind: 'registration' } & Registration)
  | { readonly kind: 'renewal' }
  | ({ readonly kind: 'event'; readonly event: PluginEvent } & RunKey);

/** From the platform to a plugin. */
export type PlatformMessage<Submitted> =
  | { readonly kind: 'registered'; readonly leaseMs: number }
  | ({ readonly kind: 'run' } & Run<Submitted>)
  | ({ readonly kind: 'stop' } & RunKey);

/** One end of the connection between the platform and a plugin: what the other end sends is iterated over, once. */
export interface Link<Sent, Received> extends AsyncIterable<Received> {
  /** Resolves when there is room for more; a link that is closed swallows what is sent. */
  send(message: Sent): Promise<void>;
  /** Ends both ends' iterations. May be called again. */
  close(): void;
}

export type PlatformEnd = Link<PlatformMessage<Uint8Array>, PluginMessage>;
export type PluginEnd = Link<PluginMessage, PlatformMessage<Submission>>;
