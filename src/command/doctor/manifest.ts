import { counted } from '../../base/counted.js';
import { append } from '../../base/long-lists.js';
import { readRegularFile } from '../../base/regular-file.js';
import { distinctByContent } from '../../base/distinct-by-content.js';
import { PlatformError } from '../../base/errors.js';
import { sha256Of } from '../../base/sha256.js';
import { lockPath, readLock } from '../../fetch/lock.js';
import { EMPTY_LOCK, type Lock } from '../../manifest/lock-file.js';
import { besideManifest } from '../../manifest/reference.js';
import { MAX_LABELS_BYTES } from '../../processing/labels.js';
import { type ManifestDocument, nodeAt, parseDocument } from '../../manifest/document.js';
import { DISK } from '../../manifest/files.js';
import type { Evaluation } from '../../evaluation/evaluation.js';
import { kindOfManifest, loadManifest } from '../../manifest/load.js';
import type { ModelManifest } from '../../manifest/model.js';
import { pluginSettings } from '../../manifest/plugin-settings.js';
import { orThrow } from '../../manifest/problem.js';
import { resolveEvaluation } from '../../manifest/resolve-evaluation.js';
import { shippedManifest } from '../../manifest/shipped-manifest.js';
import type { ImageSteps } from '../../manifest/steps.js';
import { zooNames } from '../../registry/load-model.js';
import { elementsOfPicture, madeUpPicture } from '../../registry/picture-input.js';
import { type Finding, sorted } from './finding.js';

type Check = (steps: ImageSteps) => (Omit<Finding, 'found' | 'level'> & { readonly readings: string }) | undefined;

type Colors = ImageSteps['mean'];

/** The largest difference in the input between two readings of the same steps, for a made-up picture. */
function compareSteps(steps: ImageSteps, other: Partial<ImageSteps>): string {
  const picture = madeUpPicture();
  const one = elementsOfPicture(picture, steps, 'float32');
  const two = elementsOfPicture(picture, { ...steps, ...other }, 'float32');
  const most = one.reduce((largest, value, index) => Math.max(largest, Math.abs(value - (two[index] ?? value))), 0);
  return `inputs differ by up to ${Number(most.toPrecision(3))}`;
}

const times255 = (colors: Colors): Colors => colors.map((color) => color * 255) as unknown as Colors;

function isUnit(colors: Colors): boolean {
  return colors.every((color) => Math.abs(color) < 1) && colors.some((color) => color !== 0);
}

/** Means and scales of pixels from 0 to 1, which steps take as of pixels from 0 to 255. */
const range: Check = (steps) => {
  const { mean, scale } = steps;
  const isMean = isUnit(mean);
  const isScale = isUnit(scale);
  if (!isMean && !isScale) return undefined;
  const other = { mean: isMean ? times255(mean) : mean, scale: isScale ? times255(scale) : scale };
  const shown = `mean [${other.mean.map(short).join(', ')}] and scale [${other.scale.map(short).join(', ')}]`;
  return {
    id: 'pixel_range',
    readings: `mean [${mean.map(short).join(', ')}] and scale [${scale.map(short).join(', ')}] are of pixels from 0 to 255; of pixels from 0 to 1 they would be ${shown}: ${compareSteps(steps, other)}`,
    why: 'a mean or a scale of another range makes other inputs, and the model predicts something else without an error',
    remedy: 'multiply them by 255 if they are of pixels from 0 to 1',
  };
};

const short = (value: number): string => String(Number(value.toPrecision(4)));

/** The means of ImageNet for red, green and blue, which most classifiers have. */
const IMAGENET: Colors = [123.675, 116.28, 103.53];
const NEAR = 3;

const order: Check = (steps) => {
  const { mean } = steps;
  const pixels = isUnit(mean) ? times255(mean) : mean;
  const isReversed = IMAGENET.every((value, channel) => Math.abs((pixels[2 - channel] ?? 0) - value) < NEAR);
  if (!isReversed) return undefined;
  const other: Colors = [mean[2], mean[1], mean[0]];
  return {
    id: 'mean_order',
    readings: `mean [${mean.map(short).join(', ')}] is for red, green, blue; the usual means in this order are [${other.map(short).join(', ')}]: ${compareSteps(steps, { mean: other })}`,
    why: 'means are for red, green and blue, also where the model takes BGR',
    remedy: 'write the means of red, green and blue in this order',
  };
};

const CHECKS: readonly Check[] = [range, order];

/** Parts of steps that a manifest may leave to their defaults, with the other reading of each. */
const DEFAULTS: readonly {
  readonly step: string;
  readonly key: string;
  readonly value: string;
  readonly other: (steps: ImageSteps) => Partial<ImageSteps>;
}[] = [
  { step: 'decode', key: 'color_mode', value: 'RGB', other: () => ({ colorMode: 'BGR' }) },
  {
    step: 'resize',
    key: 'method',
    value: 'bilinear',
    other: ({ geometry }) => ({
      geometry: geometry.map((step) => (step.operator === 'resize' ? { ...step, method: 'bicubic' as const } : step)),
    }),
  },
  {
    step: 'crop',
    key: 'anchor',
    value: 'center',
    other: ({ geometry }) => ({
      geometry: geometry.map((step) => (step.operator === 'crop' ? { ...step, anchor: 'top_left' as const } : step)),
    }),
  },
];

function defaultsIn(document: ManifestDocument, input: number, steps: ImageSteps): readonly string[] {
  const list = nodeAt(document.root, ['inputs', input, 'steps']);
  const nodes = list?.kind === 'sequence' ? list.items : [];
  return nodes.flatMap((node) => {
    if (node.kind !== 'mapping') return [];
    return DEFAULTS.flatMap(({ step, key, value, other }) => {
      const content = node.entries.get(step)?.value;
      if (content?.kind !== 'mapping' || content.entries.has(key)) return [];
      return `${step}.${key} is ${value} by default (else ${compareSteps(steps, other(steps))})`;
    });
  });
}

async function documentAt(path: string): Promise<ManifestDocument | undefined> {
  const file = await DISK.read(path);
  const document = file.ok ? parseDocument(path, file.bytes) : undefined;
  return document?.ok === true ? document : undefined;
}

/** The lock file beside a manifest, and a finding where it is invalid. */
async function readPins(path: string): Promise<{ readonly lock: Lock; readonly findings: readonly Finding[] }> {
  try {
    return { lock: await readLock(path), findings: [] };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const finding: Finding = {
      id: 'lock_file',
      level: 'warn',
      found: `${lockPath(path)} is no lock file of \`models fetch\``,
      why: 'it states the checksums of files that are named by their addresses; none is fetched without it',
      remedy: 'correct it, or remove it and run `mlmodelscope models fetch` to pin the files anew',
    };
    return { lock: EMPTY_LOCK, findings: [finding] };
  }
}

/** Findings about files with the names of classes whose checksum no lock file states. */
async function labelFindings({ name, outputs }: ModelManifest, path: string): Promise<Finding[]> {
  const files = new Set(outputs.flatMap(({ steps }) => steps?.labels ?? []));
  const { lock, findings: ofLock } = await readPins(path);
  const findings = [...ofLock];
  for (const labels of files) {
    const file = await readRegularFile(besideManifest(path, labels), MAX_LABELS_BYTES);
    if (!file.ok || lock.files.has(labels)) continue;
    const digest = sha256Of(file.bytes);
    const lines = file.bytes.toString('utf8').trimEnd().split('\n').length;
    findings.push({
      id: 'labels',
      level: 'info',
      found: `${name}: ${labels} has ${counted(lines, 'line')}, SHA-256 ${digest}, and nothing states this checksum`,
      why: 'another order of its lines gives classes other names without an error',
      remedy: 'compare this checksum where results come from another machine',
    });
  }
  return findings;
}

async function modelFindings(manifest: ModelManifest, path: string): Promise<Finding[]> {
  const { name, inputs } = manifest;
  const document = await documentAt(path);
  const ofInputs = inputs.flatMap(({ steps }, index): Finding[] => {
    if (steps === undefined) return [];
    const wrong = CHECKS.flatMap((check): Finding[] => {
      const found = check(steps);
      if (found === undefined) return [];
      const { readings, ...finding } = found;
      return [{ ...finding, level: 'warn', found: `${name}: ${readings}` }];
    });
    const left = document === undefined ? [] : defaultsIn(document, index, steps);
    if (left.length === 0) return wrong;
    const found = `${name}: ${left.join('; ')}`;
    const why = 'another platform has other defaults, and then the same pictures become other inputs';
    return [...wrong, { id: 'default_steps', level: 'info', found, why, remedy: 'write them into the manifest' }];
  });
  return [...ofInputs, ...(await labelFindings(manifest, path))];
}

/** Settings of an evaluation that latencies depend on. */
const SETTINGS = [['threads'], ['batch_size'], ['protocol', 'runs'], ['settings', 'optimization_level']] as const;

/** Findings about a manifest of an evaluation or a model. @throws PlatformError `manifest` where it has mistakes */
export async function manifestFindings(
  named: string,
  evaluationOf: (plugin: string) => Pick<Evaluation, 'settings'> | undefined = () => undefined,
): Promise<Finding[]> {
  const path = shippedManifest(named);
  if ((await kindOfManifest(path)) === 'model') {
    return sorted(await modelFindings(orThrow(await loadManifest(path, ['model'])).manifest, path));
  }
  const { document, models, evaluation } = orThrow(await resolveEvaluation(path, { zooNames }));
  const plugin = evaluationOf(evaluation.plugin);
  if (plugin !== undefined) pluginSettings(document, plugin.settings);
  const findings: Finding[] = [];
  const left = SETTINGS.filter((at) => nodeAt(document.root, at) === undefined).map((at) => at.join('.'));
  if (left.length > 0 && nodeAt(document.root, ['matrix']) === undefined) {
    findings.push({
      id: 'default_settings',
      level: 'info',
      found: `left to the default: ${left.join(', ')}`,
      why: 'a later version, or another platform, may have another default',
      remedy: 'write the values that the results are to be of',
    });
  }
  for (const { manifest, identity } of models) {
    if (manifest !== undefined && identity?.file !== undefined) {
      append(findings, await modelFindings(manifest, identity.file));
    }
  }
  // Models of one folder have one lock file.
  return sorted(distinctByContent(findings));
}
