export interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export const CHANNELS = 3;

/** 64 megapixels: more than cameras make, and 200 MB decoded. A few bytes can claim to be any size. */
export const MAX_PIXELS = 64 * 2 ** 20;
