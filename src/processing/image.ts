/** A decoded picture: rows from the top, three bytes (R, G, B) per pixel. */
export interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export const CHANNELS = 3;
