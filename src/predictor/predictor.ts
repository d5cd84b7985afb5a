import type { RunOptions } from '../measurement/system.js';
import type { ProfiledRun } from './profile.js';
import type { TensorType } from '../onnx/model/model.js';
import type { TensorValue } from './tensor-value.js';

export interface Framework {
  readonly name: string;
  readonly version: string;
}

/**
 * A file's bytes, or its path where weights are beside it. Bytes may refer to a folder where weight files are mapped.
 */
export type ModelSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly weightsFolder?: string }
  | { readonly kind: 'file'; readonly path: string };

/** For one message, which an ONNX file is. */
export const PROTOBUF_LIMIT_BYTES = 2 ** 31 - 1;

/** Implementations load native code, so only a worker process makes one. */
export interface Predictor {
  readonly framework: Framework;

  readonly inlineLimitBytes: number;

  readonly mapsWeightFiles: boolean;

  /** @throws the framework's error where it refuses the model; see failure.ts */
  open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel>;

  /** Absent where the framework cannot profile its runs. @throws as {@link Predictor.open} */
  readonly openProfiled?: (model: ModelSource, runOptions: RunOptions, folder: string) => Promise<ProfiledModel>;

  /**
   * Types are inferred without running the model; absent where the framework infers none.
   *
   * @param model with its weights as inputs, and every value as an output @throws as {@link Predictor.open}
   */
  readonly inferStaticTypes?: (model: Uint8Array) => Promise<ReadonlyMap<string, TensorType>>;

  /**
   * Writes the graph that the framework would execute. @returns the path of the optimized model
   *
   * @throws the framework's error where it refuses the model
   */
  optimize(model: ModelSource, runOptions: RunOptions, folder: string, options: OptimizeOptions): Promise<string>;
}

export interface OptimizeOptions {
  /** Else large weights may be missing; a model with subgraphs needs them. */
  readonly keepsWeights: boolean;
}

export interface OpenModel {
  /** Binds the inputs, so that a run is only the framework's own call. */
  prepare(feeds: ReadonlyMap<string, TensorValue>): PreparedRun;
  close(): Promise<void>;
}

export interface ProfiledModel extends OpenModel {
  /** Can be called only once, because it ends the profile. */
  profile(): Promise<readonly ProfiledRun[]>;
}

export interface PreparedRun {
  execute(): Promise<void>;
  /** Outputs by name; values that are not tensors are left out. */
  evaluate(): Promise<ReadonlyMap<string, TensorValue>>;
}
