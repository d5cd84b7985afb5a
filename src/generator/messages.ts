// The messages between the process of the generator and its parent.
import type { MeasureProgress, Reach } from '../agent/benchmark-agent.js';
import type { ServeRequest } from '../agent/wire/load-wire.js';
import type { ErrorCode } from '../base/errors.js';
import type { QueryRecord, TrialOptions, TrialOutcome } from '../load/trial.js';
import type { Conditions } from '../measurement/conditions.js';

/** A server that gets queries. */
export type TargetSpec = { readonly kind: 'agent'; readonly reach: Reach; readonly request: ServeRequest };

export type ToGenerator =
  | { readonly kind: 'open'; readonly targets: readonly TargetSpec[]; readonly warmupSamples: number }
  | { readonly kind: 'trial'; readonly options: TrialOptions }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' };

/** How the machine of a server was during all trials. */
export interface TargetEnd {
  /** null where the server does not say. */
  readonly conditions: Conditions | null;
  readonly clockDriftMs: number;
}

export type FromGenerator =
  | { readonly kind: 'progress'; readonly progress: MeasureProgress }
  | { readonly kind: 'open' }
  | { readonly kind: 'records'; readonly records: readonly QueryRecord[] }
  | { readonly kind: 'ended'; readonly outcome: TrialOutcome }
  | { readonly kind: 'closed'; readonly ends: readonly TargetEnd[] }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly message: string };
