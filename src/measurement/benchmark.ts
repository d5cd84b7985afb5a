import { type ElementType, tensorBytes } from '../onnx/model/element-type.js';
import type { Fill } from '../onnx/model/model.js';

export const INPUT_ROLES = ['weight', 'activation'] as const;

export interface BenchmarkInput {
  readonly name: string;
  /** A weight becomes an initializer before the session is created; an activation is fed with every run. */
  readonly role: (typeof INPUT_ROLES)[number];
  readonly elementType: ElementType;
  readonly dims: readonly number[];
  readonly fill: Fill;
  /** Whether a user gave its values; they are part of the signature. */
  readonly isGiven?: boolean | undefined;
}

/** A runnable graph without weights: a brick, or a whole model. */
export interface Benchmark {
  readonly signature: string;
  /** An ONNX file in which all weights are graph inputs. */
  readonly model: Uint8Array;
  readonly inputs: readonly BenchmarkInput[];
  /** File of its own weights; a placeholder while it is sent. Only an agent in its client's process has such files. */
  readonly weights?: string | undefined;
}

/** Bytes of the values of some inputs; with `role`, only of the inputs with this role. */
export function inputBytes(inputs: readonly BenchmarkInput[], role?: BenchmarkInput['role']): number {
  return inputs.reduce((sum, input) => (role === undefined || input.role === role ? sum + tensorBytes(input) : sum), 0);
}
