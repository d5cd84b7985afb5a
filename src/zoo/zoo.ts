import { PlatformError } from '../base/errors.js';
import { suggestion } from '../base/suggestion.js';
import type { Model } from '../onnx/model/model.js';
import { quoted } from '../base/quoted.js';
import { ALEXNET } from './architectures/alexnet.js';
import { bertBase } from './architectures/bert.js';
import { DENSENETS } from './architectures/densenet.js';
import { distilgpt2, gpt2 } from './architectures/gpt2.js';
import { ICPE2020 } from './architectures/icpe2020/index.js';
import { INCEPTION_V1 } from './architectures/inception-v1.js';
import { inceptionV3 } from './architectures/inception-v3.js';
import { MOBILENET_V2 } from './architectures/mobilenet-v2.js';
import { MODERN } from './architectures/modern/index.js';
import { RESNETS } from './architectures/resnet.js';
import { SQUEEZENET } from './architectures/squeezenet.js';
import { VGGS } from './architectures/vgg.js';
import { VIT } from './architectures/vit.js';
import { GraphBuilder } from './builder.js';
import type { ZooEntry } from './entry.js';

/** In the path of cached files. Raise it with every change of a graph or of its weights. */
export const ZOO_VERSION = 1;

export const CLASSICS: readonly ZooEntry[] = [
  ...ALEXNET,
  ...VGGS,
  ...SQUEEZENET,
  ...RESNETS,
  ...INCEPTION_V1,
  inceptionV3,
  ...DENSENETS,
  ...MOBILENET_V2,
  bertBase,
  gpt2,
  distilgpt2,
  ...VIT,
];

export const ZOO: readonly ZooEntry[] = [...CLASSICS, ...ICPE2020, ...MODERN];

const BY_NAME: ReadonlyMap<string, ZooEntry> = new Map(ZOO.map((entry) => [entry.name, entry]));

/** @throws PlatformError `not_found`, with a similar name if there is one */
export function zooEntry(name: string): ZooEntry {
  const found = BY_NAME.get(name);
  if (found !== undefined) return found;
  const meant = suggestion(name, [...BY_NAME.keys()]);
  const advice = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const all = `'mlmodelscope registry models' lists all ${ZOO.length}.`;
  throw new PlatformError('not_found', `The zoo has no model ${quoted(name)}.${advice} ${all}`);
}

/** FNV-1a, 32 bits. */
function hashName(name: string): number {
  return [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);
}

/** The same name always gives the same model. @throws PlatformError as {@link zooEntry} */
export function buildZooModel(name: string): Model {
  const entry = zooEntry(name);
  const builder = new GraphBuilder(name, hashName(name));
  entry.define(builder);
  return builder.finish(`zoo:${name}`);
}
