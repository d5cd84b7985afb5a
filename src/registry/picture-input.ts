import { PlatformError } from '../base/errors.js';
import { uniform, xoshiro128pp } from '../base/random.js';
import { readRegularFile } from '../base/regular-file.js';
import { loadManifest } from '../manifest/load.js';
import { orThrow } from '../manifest/problem.js';
import { shippedManifest } from '../manifest/shipped-manifest.js';
import { isManifestPath } from '../manifest/reference.js';
import type { ImageSteps } from '../manifest/steps.js';
import type { ElementType } from '../onnx/model/element-type.js';
import { listedValues } from '../onnx/model/listed-values.js';
import { MAX_LISTED_VALUES } from '../onnx/model/model.js';
import { findStaticType } from '../onnx/model/static-type.js';
import { withGivenValues } from '../onnx/values/given-values.js';
import { numbersOf } from '../processing/element-part.js';
import { applyGeometry } from '../processing/geometry.js';
import { CHANNELS, type Image } from '../processing/image.js';
import { imageTensor } from '../processing/image-tensor.js';
import type { LoadedModel } from './load-model.js';

export interface PictureInput {
  readonly name: string;
  readonly steps: ImageSteps;
}

/** @throws PlatformError `manifest` where the manifest has mistakes */
export async function makePictureInput(
  reference: string,
  { model }: Pick<LoadedModel, 'model'>,
): Promise<PictureInput | undefined> {
  if (!isManifestPath(reference)) return undefined;
  const { manifest } = orThrow(await loadManifest(shippedManifest(reference), ['model']));
  const input = manifest.inputs.find(({ steps }) => steps !== undefined);
  if (input?.steps === undefined) return undefined;
  const { layer_name: name, steps } = input;
  return { name: typeof name === 'number' ? (model.graph.inputs[name] ?? '') : name, steps };
}

/** The same each time: smooth shades, as photographs have them, and a little noise. */
export function madeUpPicture(): Image {
  const width = 320;
  const height = 256;
  const pixels = new Uint8Array(width * height * CHANNELS);
  const next = xoshiro128pp(1);
  for (let i = 0; i < pixels.length; i++) {
    const channel = i % CHANNELS;
    const x = Math.floor(i / CHANNELS) % width;
    const y = Math.floor(i / CHANNELS / width);
    const shade = Math.sin(x / 23 + channel) * Math.cos(y / 31 + 2 * channel);
    pixels[i] = Math.round(127.5 + 90 * shade + 30 * (uniform(next) - 0.5));
  }
  return { width, height, pixels };
}

const MAX_PICTURE_BYTES = 64 * 2 ** 20;

/** @throws PlatformError `not_found` where there is no such file, `usage` where it is no picture */
export async function pictureAt(path: string): Promise<Image> {
  const file = await readRegularFile(path, MAX_PICTURE_BYTES);
  if (!file.ok) throw new PlatformError('not_found', `${path}: expected a picture, found ${file.found}`);
  // Few commands need the library, which loads slowly.
  const { decodeImage } = await import('../processing/decode-image.js');
  return decodeImage(file.bytes);
}

/** @throws PlatformError as {@link imageTensor} */
export function elementsOfPicture(picture: Image, steps: ImageSteps, elementType: ElementType): readonly number[] {
  const bytes = imageTensor([applyGeometry(picture, steps.geometry)], steps, elementType);
  return [...numbersOf({ elementType, dims: [], bytes })];
}

/** The batch is one. @throws PlatformError `usage` if the picture does not fit, `unsupported` if it is too large */
export async function withPicture(loaded: LoadedModel, input: PictureInput, picture: Image): Promise<LoadedModel> {
  const type = findStaticType(loaded.model.graph.types.get(input.name));
  if (type === undefined) throw new PlatformError('usage', `${loaded.name} has no input ${input.name} for a picture`);
  const elements = elementsOfPicture(picture, input.steps, type.elementType);
  if (elements.length > MAX_LISTED_VALUES) {
    const problem = `its input has ${elements.length} elements (at most ${MAX_LISTED_VALUES})`;
    throw new PlatformError('unsupported', `${loaded.name} cannot be given a picture: ${problem}`);
  }
  const given = new Map([[input.name, { kind: 'values', values: listedValues(elements) } as const]]);
  return { ...loaded, model: await withGivenValues(loaded.model, given) };
}
