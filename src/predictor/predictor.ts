import type { RunOptions } from '../measurement/system.js';
import type { ProfiledRun } from './profile.js';
import type { TensorType } from '../onnx/model/model.js';
import type { TensorValue } from './tensor-value.js';

export interface Framework {
  readonly name: string;
  readonly version: string;
}

/**
 * A complete ONNX model: the file's bytes, or its path where weights are in files beside it. Where the framework maps
 * weight files, the bytes may also refer to files in a folder.
 */
export type ModelSource =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly weightsFolder?: string }
  | { readonly kind: 'file'; readonly path: string };

/** Protobuf's limit for one message, which an ONNX file is. */
export const PROTOBUF_LIMIT_BYTES = 2 ** 31 - 1;

/** One framework that can open models. Implementations load native code, so only a worker process makes one. */
export interface Predictor {
  readonly framework: Framework;

  readonly inlineLimitBytes: number;

  readonly mapsWeightFiles: boolean;

  /** @throws the framework's error where it refuses the model; see failure.ts */
  open(model: ModelSource, runOptions: RunOptions): Promise<OpenModel>;

  /** The framework profiles its runs itself; absent where it cannot do this. @throws as {@link Predictor.open} */
  readonly openProfiled?: (model: ModelSource, runOptions: RunOptions, folder: string) => Promise<ProfiledModel>;

  /**
   * The types of all values that the framework infers without running the model; absent where it infers none.
   *
   * @param model with its weights as inputs, and every value as an output
   * @throws as {@link Predictor.open}
   */
  readonly inferStaticTypes?: (model: Uint8Array) => Promise<ReadonlyMap<string, TensorType>>;

  /**
   * Writes the graph that the framework would execute into an existing folder. Without `keepsWeights`, its large
   * weights may be missing.
   *
   * @returns the path of the optimized model
   * @throws the framework's error where it refuses the model
   */
  optimize(model: ModelSource, runOptions: RunOptions, folder: string, options: OptimizeOptions): Promise<string>;
}

export interface OptimizeOptions {
  /** Whether the optimized model has to hold all its weights; a model with subgraphs has to. */
  readonly keepsWeights: boolean;
}

export interface OpenModel {
  /** Binds the inputs, so that a run is only the framework's own call. */
  prepare(feeds: ReadonlyMap<string, TensorValue>): PreparedRun;
  close(): Promise<void>;
}

export interface ProfiledModel extends OpenModel {
  /** All runs so far. Can be called only once, because it ends the profile. */
  profile(): Promise<readonly ProfiledRun[]>;
}

export interface PreparedRun {
  /** Runs the model once and discards its outputs. */
  execute(): Promise<void>;
  /** Runs the model once and returns its outputs by name; values that are not tensors are left out. */
  evaluate(): Promise<ReadonlyMap<string, TensorValue>>;
}
