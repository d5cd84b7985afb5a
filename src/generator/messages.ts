import type { MeasureProgress, Reach } from '../agent/benchmark-agent.js';
import type { ServingEnd } from '../agent/client/serving-client.js';
import type { ServeRequest } from '../agent/wire/load-wire.js';
import type { ErrorCode } from '../base/errors.js';
import type { QueryRecord, TrialOptions, TrialOutcome } from '../load/trial.js';

export interface DeployedModel {
  readonly name: string;
  /** Empty: the server chooses. */
  readonly version: string;
}

/** `oip`: of the Open Inference Protocol; `predict`: of the platform's own Predict service. */
export type TargetSpec =
  | { readonly kind: 'agent'; readonly reach: Reach; readonly request: ServeRequest }
  | ({ readonly kind: 'oip' } & Deployment)
  | ({ readonly kind: 'predict' } & Deployment);

export interface Deployment {
  readonly reach: Reach;
  readonly model: DeployedModel;
  readonly samples: readonly number[];
}

export type ToGenerator =
  | { readonly kind: 'open'; readonly targets: readonly TargetSpec[]; readonly warmupSamples: number }
  | { readonly kind: 'trial'; readonly options: TrialOptions }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' };

export type FromGenerator =
  | { readonly kind: 'progress'; readonly progress: MeasureProgress }
  | { readonly kind: 'open' }
  | { readonly kind: 'records'; readonly records: readonly QueryRecord[] }
  | { readonly kind: 'ended'; readonly outcome: TrialOutcome }
  | { readonly kind: 'closed'; readonly ends: readonly ServingEnd[] }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly message: string };
