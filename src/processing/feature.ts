import type { ElementType } from '../onnx/model/element-type.js';

/** The contract has 32-bit integers. */
export const MAX_CLASS = 2 ** 31 - 1;

/** With the labels themselves instead of the path of their file. */
export type WithLabels<Steps> = Omit<Steps, 'labels'> & { readonly labels?: readonly string[] | undefined };

export interface ClassShare {
  readonly index: number;
  readonly label: string;
  readonly share: number;
}

/** Coordinates are from 0 to 1, from the left and the top of the model's input. */
export interface DetectedBox {
  readonly index: number;
  readonly label: string;
  readonly probability: number;
  readonly xmin: number;
  readonly xmax: number;
  readonly ymin: number;
  readonly ymax: number;
}

export type PredictedFeature =
  | {
      readonly kind: 'classification';
      readonly index: number;
      readonly label: string;
      readonly probability: number;
    }
  | ({ readonly kind: 'bounding_box' } & DetectedBox)
  | ({
      readonly kind: 'instance_segment';
      readonly height: number;
      readonly width: number;
      /** Row by row: 1 for each pixel of the object, else 0. */
      readonly mask: Uint8Array;
    } & DetectedBox)
  | {
      readonly kind: 'semantic_segment';
      readonly height: number;
      readonly width: number;
      /** Row by row: the class of each pixel; -1 where the model gives none. */
      readonly mask: Int32Array;
      readonly shares: readonly ClassShare[];
    }
  | {
      readonly kind: 'raw';
      readonly output: string;
      readonly elementType: ElementType;
      readonly dims: readonly number[];
      readonly bytes: Uint8Array;
    };
