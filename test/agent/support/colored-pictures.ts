import sharp from 'sharp';

/** Pictures of one colour each, no two of the same. */
export function coloredPictures(count: number): Promise<readonly Buffer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => {
      const level = i * 60;
      const background = { r: level, g: 255 - level, b: (level * 7) % 256 };
      return sharp({ create: { width: 9, height: 7, channels: 3, background } })
        .png()
        .toBuffer();
    }),
  );
}
