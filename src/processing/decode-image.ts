import sharp from 'sharp';
import { counted } from '../base/counted.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { CHANNELS, type Image, MAX_PIXELS } from './image.js';

/** Far more than any picture takes. */
const DECODE_LIMIT_S = 20;

/** The library's other formats (SVG, PDF, TIFF, …) would only enlarge the attack surface. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif'];

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS.map((format) => `VipsForeignLoad${format}Buffer`) });
// Pictures differ, so a cache does not help. One thread, because a session needs the processor.
sharp.cache(false);
sharp.concurrency(1);

/** Some clients send base64, because they follow the contract's comment to the letter. */
function decodeIfBase64(bytes: Uint8Array): Uint8Array {
  const isText = bytes.length > 0 && bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
  return isText
    ? Buffer.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), 'base64')
    : bytes;
}

/**
 * A JPEG, PNG, WebP or GIF (its first picture). Colour profiles and orientation tags are ignored, as the usual training
 * pipelines do; transparency is dropped, grey becomes RGB.
 *
 * @throws PlatformError `usage` where it is none of these, damaged, cut short or too large
 */
export async function decodeImage(bytes: Uint8Array): Promise<Image> {
  const options = { limitInputPixels: MAX_PIXELS, failOn: 'error', ignoreIcc: true } as const;
  try {
    const { data, info } = await sharp(decodeIfBase64(bytes), options)
      .timeout({ seconds: DECODE_LIMIT_S })
      .toColourspace('srgb')
      .removeAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    if (info.channels !== CHANNELS) throw new Error(`it has ${counted(info.channels, 'channel')}`);
    return { width: info.width, height: info.height, pixels: data };
  } catch (cause) {
    const problem = messageOf(cause).replace(/\s+/g, ' ').slice(0, 200);
    const message = `expected a JPEG, PNG, WebP or GIF of at most ${MAX_PIXELS} pixels, found ${counted(bytes.length, 'byte')}: ${problem}`;
    throw new PlatformError('usage', message, { cause });
  }
}
