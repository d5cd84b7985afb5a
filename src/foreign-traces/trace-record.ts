import type { KernelFacts } from '../measurement/kernel-facts.js';

export interface TracedTensor {
  /** As ONNX names it (float32); undefined where the trace doesn't say. */
  readonly elementType?: string | undefined;
  readonly dims: readonly number[];
}

/** A layer in a trace, usually with fewer facts than a signature has. Unknown facts are absent. */
export interface TracedLayer {
  /** Its index in its model: a number, or the path of numbers of a layer in a module, such as 0-1-2. */
  readonly index: string;
  /** Index of the last layer, where several consecutive ones were timed together. */
  readonly last?: number | undefined;
  /** Longest sequence allowed when the model was cut for this measurement; absent for single layers. */
  readonly granularity?: number | undefined;
  readonly name: string;
  readonly operator: string;
  /** Equal for layers that the trace treats as the same. */
  readonly signature?: string | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
  readonly inputs?: readonly TracedTensor[] | undefined;
  readonly outputs?: readonly TracedTensor[] | undefined;
  readonly operations?: number | undefined;
  readonly bytes?: number | undefined;
  readonly after?: readonly number[] | undefined;
}

interface Belonging {
  readonly trace: string;
  /** The trace's id, the same in every format; absent where its producer gives none. */
  readonly traceId?: string | undefined;
  /** Records with the same value are of one system; absent where a file has only one system. */
  readonly process?: string | undefined;
}

export type TraceRecord =
  | (Belonging & {
      readonly kind: 'layer';
      readonly layer: TracedLayer;
      /** Of these executions; no part of the layer, because they differ from run to run. */
      readonly facts?: KernelFacts | undefined;
      /** Whether the records of a run are in the order in which its layers ran, whatever their indices say. */
      readonly inOrder?: true;
      readonly durationsMs: readonly number[];
    })
  | (Belonging & {
      readonly kind: 'whole';
      /** Whether its layers were traced meanwhile, which costs time. */
      readonly layersTraced: boolean;
      readonly durationsMs: readonly number[];
    })
  /** Model of a trace; undefined where the trace never names one, so that the reader does not wait for it. */
  | { readonly kind: 'model'; readonly trace: string; readonly model: string | undefined }
  | { readonly kind: 'system'; readonly process: string | undefined; readonly system: string }
  | { readonly kind: 'end'; readonly trace: string };

export type Emit = (record: TraceRecord, place: string) => void;

export interface TraceReader {
  /** Rows with the same layer have to agree: in tables, but not in traces, which may have several batch sizes. */
  readonly onePerPosition?: true;
  detects(head: string): boolean;
  /** @param source its name in messages @throws PlatformError `usage` for a value that is not of the format */
  read(chunks: AsyncIterable<Buffer>, source: string, emit: Emit): Promise<void>;
}
