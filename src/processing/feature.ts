import type { ElementType } from '../onnx/model/element-type.js';

/** Largest index of a class: the contract has 32-bit integers. */
export const MOST_CLASS = 2 ** 31 - 1;

/** A class and its share of a picture, from 0 to 1. */
export interface ClassShare {
  readonly index: number;
  /** Empty where the manifest names no labels. */
  readonly label: string;
  readonly share: number;
}

/** An object in a picture. Coordinates are from 0 to 1, from the left and the top of the model's input. */
export interface DetectedBox {
  /** Class. */
  readonly index: number;
  readonly label: string;
  /** The score as the model gives it. */
  readonly probability: number;
  readonly xmin: number;
  readonly xmax: number;
  readonly ymin: number;
  readonly ymax: number;
}

/** The predictions for one element of a batch. */
export type PredictedFeature =
  | {
      readonly kind: 'classification';
      readonly index: number;
      /** Empty where the manifest names no labels. */
      readonly label: string;
      readonly probability: number;
    }
  | ({ readonly kind: 'bounding_box' } & DetectedBox)
  | ({
      readonly kind: 'instance_segment';
      /** The size of the mask, which covers the box. */
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
      /** The shares of the classes in the picture, the largest first. */
      readonly shares: readonly ClassShare[];
    }
  | {
      readonly kind: 'raw';
      /** The output's name. */
      readonly output: string;
      readonly elementType: ElementType;
      /** Without the batch. */
      readonly dims: readonly number[];
      /** Little-endian. */
      readonly bytes: Uint8Array;
    };
