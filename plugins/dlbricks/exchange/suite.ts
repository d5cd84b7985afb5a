import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  type BenchmarkInput,
  groupedBy,
  isElementType,
  makeFolder,
  PlatformError,
  messageOf,
  MAX_LISTED_VALUES,
  readJsonFile,
  readRegularFile,
  schemaProblems,
  computeSignature,
  writeFileAtomically,
  withSnakeKeys,
  z,
  type SystemFacts,
} from '../../../src/plugin-api.js';
import { brickModel } from '../cut/brick-model.js';
import { type Brick, inputRoleOf } from '../bricks/brick.js';
import { copyBrick, MAX_COPIES, type MeasurableBrick } from '../bricks/brick-copies.js';
import type { EmptyCall } from '../bricks/empty-call.js';
import type { OutputType } from '../bricks/output-copy.js';
import type { Recipe } from '../bricks/recipe.js';

/** The properties that a runtime's optimized graph depends on besides the model; they do not identify the machine. */
const optimizedForSchema = z.strictObject({
  framework: z.string().max(64),
  framework_version: z.string().max(64),
  architecture: z.string().max(32),
  processor_features: z.array(z.string().max(32)).max(256),
});

export type OptimizedFor = z.infer<typeof optimizedForSchema>;

export function describeOptimizedFor(system: SystemFacts): OptimizedFor {
  const { framework, frameworkVersion, architecture, processorFeatures } = system;
  return { framework, framework_version: frameworkVersion, architecture, processor_features: [...processorFeatures] };
}

/**
 * Channels that ONNX Runtime keeps together in its blocked layout; undefined where that is not known. Source: MLAS,
 * platform.cpp, NchwcBlockSize: 8 on x64, 16 with AVX-512.
 */
function channelBlock({ architecture, processor_features: features }: OptimizedFor): number | undefined {
  if (architecture !== 'x64') return undefined;
  return features.includes('avx512f') ? 16 : 8;
}

export function differencesBetween(cutFor: OptimizedFor, here: OptimizedFor): readonly string[] {
  const differences: string[] = [];
  const runtime = ({ framework, framework_version: version }: OptimizedFor): string => `${framework} ${version}`;
  if (runtime(cutFor) !== runtime(here)) {
    differences.push(
      `the suite was cut from graphs that ${runtime(cutFor)} optimized; this machine has ${runtime(here)}, which may fuse kernels differently`,
    );
  }
  const block = channelBlock(cutFor);
  const ownBlock = channelBlock(here);
  if (cutFor.architecture !== here.architecture || block !== ownBlock) {
    const layout = ({ architecture }: OptimizedFor, channels: number | undefined): string => {
      return channels === undefined ? architecture : `${architecture} with blocks of ${channels} channels`;
    };
    differences.push(
      `the suite was cut for ${layout(cutFor, block)}, this processor is ${layout(here, ownBlock)}: its runtime would lay out ` +
        'convolutions differently, and may refuse some of these bricks; estimates are for the graphs as they were cut',
    );
  }
  return differences;
}

const MAX_BRICK_BYTES = 64 * 2 ** 20;

const MAX_FOOTPRINT_BYTES = 2 ** 50;

const MAX_ENDS = 10_000;
const MAX_TEXTS = 2 ** 24;

const inputSchema = z.strictObject({
  name: z.string().min(1).max(64),
  role: z.enum(['weight', 'activation']),
  element_type: z.string().refine(isElementType, 'not an element type'),
  dims: z.array(z.int().nonnegative()).max(64),
  /** Values are drawn uniformly from [low, high]. */
  low: z.number(),
  high: z.number(),
  seed: z.int().nonnegative(),
  list: z.array(z.number()).min(1).max(MAX_LISTED_VALUES).optional(),
  /** Whether the owner of the model gave the values. */
  is_given: z.boolean().optional(),
});

const brickSchema = z.strictObject({
  signature: z.string().regex(/^[0-9a-f]{64}$/),
  operators: z.array(z.string().max(256)),
  inputs: z.array(inputSchema),
  /** Numbers of copies in which to measure it, once each; absent where it is measured alone or together with others. */
  copies: z.array(z.int().min(1).max(MAX_COPIES)).min(1).max(16).optional(),
  /** Footprints of its models in bytes. It is measured together with others, once for each footprint. */
  footprints: z.array(z.int().min(1).max(MAX_FOOTPRINT_BYTES)).min(1).max(64).optional(),
});

type BrickDocument = z.infer<typeof brickSchema>;

const outputsSchema = z
  .array(
    z.strictObject({
      element_type: z.string().refine(isElementType, 'not an element type'),
      dims: z.array(z.int().nonnegative()).max(64),
      /** By a kernel that takes no time within a graph, such as a Reshape. */
      copied: z.literal(true).optional(),
    }),
  )
  .min(1)
  .max(MAX_ENDS);

export const suiteSchema = z.strictObject({
  /** Version 1 has no footprints. */
  format: z.enum(['dlbricks-suite/1', 'dlbricks-suite/2']),
  cut: z.enum(['layer', 'kernel']),
  granularity: z.int().min(1),
  optimized_for: optimizedForSchema.optional(),
  calls: z
    .array(
      z.strictObject({
        inputs: z.int().min(0).max(MAX_ENDS),
        outputs: z.int().min(1).max(MAX_ENDS),
        /** Elements of all inputs that are texts; absent for none. */
        texts: z.int().min(1).max(MAX_TEXTS).optional(),
        returned_texts: z.int().min(1).max(MAX_TEXTS).optional(),
      }),
    )
    .optional(),
  /** Outputs that are handed over, for each model that has large ones. */
  handing_over: z.array(outputsSchema).optional(),
  bricks: z
    .array(brickSchema)
    .min(1)
    .refine(
      (bricks) => new Set(bricks.map(({ signature }) => signature)).size === bricks.length,
      'the same brick twice',
    ),
});

export interface SuiteBrick extends MeasurableBrick {
  readonly footprintBytes?: number | undefined;
}

export interface Suite {
  readonly cut: 'layer' | 'kernel';
  readonly granularity: number;
  /** The system that its graphs were optimized for; undefined at the layer cut, where none is optimized. */
  readonly optimizedFor?: OptimizedFor | undefined;
  readonly bricks: readonly SuiteBrick[];
  readonly calls: readonly EmptyCall[];
  readonly outputCopies: readonly (readonly OutputType[])[];
}

export function brickPath(signature: string): string {
  return join('bricks', `${signature}.onnx`);
}

/** The different values of a field over all entries of a brick, in ascending order. */
function listDistinctValues(
  bricks: readonly SuiteBrick[],
  value: (brick: SuiteBrick) => number | undefined,
): readonly number[] | undefined {
  const values = bricks.flatMap((brick) => value(brick) ?? []);
  return values.length === 0 ? undefined : [...new Set(values)].sort((a, b) => a - b);
}

function brickDocument(ways: readonly [SuiteBrick, ...SuiteBrick[]]): BrickDocument {
  const [brick] = ways;
  const copies = listDistinctValues(ways, (one) => one.copies?.copies);
  const footprints = listDistinctValues(ways, ({ footprintBytes }) => footprintBytes);
  return {
    signature: brick.signature,
    operators: [...brick.operators],
    inputs: withSnakeKeys(
      brick.inputs.map(({ fill: { list, ...fill }, isGiven, ...input }) => ({ ...input, ...fill, list, isGiven })),
    ),
    ...(copies && { copies: [...copies] }),
    ...(footprints && { footprints: [...footprints] }),
  };
}

function suiteDocument(suite: Suite): z.infer<typeof suiteSchema> {
  const { cut, granularity, optimizedFor, bricks, calls, outputCopies } = suite;
  const ways = groupedBy(bricks, ({ signature }) => signature);
  const handed = outputCopies.map((types) =>
    types.map(({ elementType, dims, isCopied }) => ({
      element_type: elementType,
      dims: [...dims],
      ...(isCopied && { copied: isCopied }),
    })),
  );
  return {
    format: 'dlbricks-suite/2',
    cut,
    granularity,
    ...(optimizedFor === undefined ? {} : { optimized_for: optimizedFor }),
    ...(calls.length === 0 ? {} : { calls: [...calls] }),
    ...(handed.length === 0 ? {} : { handing_over: handed }),
    bricks: [...ways.values()].map(brickDocument),
  };
}

/** Removes the unfinished files. A failure to remove them is ignored: the error of writing matters more. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

const placesIn = (folder: string) => ({ target: join(folder, 'suite'), recipePath: join(folder, 'recipe.json') });

/** @throws PlatformError `usage` where the folder has a suite or a recipe already, or is or leads through a file */
export function requireNewSuite(folder: string): void {
  for (const path of Object.values(placesIn(folder))) {
    if (existsSync(path))
      throw new PlatformError('usage', `${path} exists already; name another folder with -o, or remove it first`);
  }
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  if (!statSync(existing).isDirectory())
    throw new PlatformError('usage', `${existing} is not a folder; name another one with -o`);
}

/**
 * Writes the models' unique bricks in the order of their signatures to `DIR/suite`, and everything that relates them
 * to models to `DIR/recipe.json`; both completely or neither.
 *
 * @throws PlatformError as {@link requireNewSuite}, `storage` where they cannot be written
 */
export async function writeSuite(folder: string, suite: Suite, recipe: Recipe): Promise<void> {
  const { target, recipePath } = placesIn(folder);
  const temporary = join(folder, `.suite-${randomUUID()}`);
  requireNewSuite(folder);
  try {
    makeFolder(join(temporary, dirname(brickPath(''))));
    const bricks = suite.bricks.toSorted((a, b) => (a.signature < b.signature ? -1 : 1));
    for (const brick of bricks) await writeFile(join(temporary, brickPath(brick.signature)), brick.model);
    await writeFile(join(temporary, 'suite.json'), `${JSON.stringify(suiteDocument({ ...suite, bricks }), null, 1)}\n`);
    const recipeText = `${JSON.stringify(recipe, null, 1)}\n`;
    await rename(temporary, target);
    await writeFileAtomically(recipePath, recipeText).catch(async (error: unknown) => {
      await remove(target);
      throw error;
    });
  } catch (error) {
    await remove(temporary);
    throw new PlatformError(
      'storage',
      `${folder}: the suite could not be written: ${messageOf(error)}; make room or name another folder with -o`,
      { cause: error },
    );
  }
}

/** From an untrusted source. @throws PlatformError `usage` with all problems of suite.json, or the first wrong brick */
export async function readSuite(folder: string): Promise<Suite> {
  const path = join(folder, 'suite.json');
  const remedy = "a suite is a folder with suite.json and bricks/, as 'dlbricks generate' writes it";
  const parsed = suiteSchema.safeParse(await readJsonFile(path, 'suite', remedy));
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error, { whole: 'suite', most: 20 });
    throw new PlatformError('usage', problems.map((problem) => `${path}: ${problem}`).join('\n'));
  }
  const bricks: SuiteBrick[] = [];
  for (const document of parsed.data.bricks) {
    const brick = await readBrick(folder, document);
    const { copies = [], footprints = [] } = document;
    if (copies.length + footprints.length === 0) bricks.push(brick);
    for (const count of copies) bricks.push({ ...brick, copies: copyBrick(brick, count) });
    for (const footprintBytes of footprints) bricks.push({ ...brick, footprintBytes });
  }
  const { cut, granularity, optimized_for: optimizedFor, calls = [], handing_over: handed = [] } = parsed.data;
  return {
    cut,
    granularity,
    ...(optimizedFor === undefined ? {} : { optimizedFor }),
    bricks,
    calls,
    outputCopies: handed.map((types) =>
      types.map(({ element_type, dims, copied }) => ({
        elementType: element_type,
        dims,
        ...(copied && { isCopied: copied }),
      })),
    ),
  };
}

function described(name: string, role: string, elementType = 'unknown', dims: readonly unknown[] = []): string {
  return `${name} (${role}, ${elementType} [${dims.join(', ')}])`;
}

async function readBrick(folder: string, { signature, operators, inputs }: BrickDocument): Promise<Brick> {
  const file = join(folder, brickPath(signature));
  const wrong = (problem: string): PlatformError =>
    new PlatformError('usage', `${file}: ${problem}; get the suite again from its author`);
  const read = await readRegularFile(file, MAX_BRICK_BYTES);
  if (!read.ok) throw wrong(`expected a brick, found ${read.found}`);
  const model = read.bytes;
  if (computeSignature(model) !== signature) throw wrong('its content does not have the SHA-256 in its name');
  const { graph } = brickModel({ model }, file);
  const expected = graph.inputs.map((name) => {
    const type = graph.types.get(name);
    return described(name, inputRoleOf(name), type?.elementType, type?.dims);
  });
  const found = inputs.map(({ name, role, element_type: type, dims }) => described(name, role, type, dims));
  if (found.join('\n') !== expected.join('\n')) {
    throw new PlatformError(
      'usage',
      `${join(folder, 'suite.json')}: brick ${signature}: expected the inputs ${expected.join(', ')}; found ${found.join(', ')}`,
    );
  }
  return {
    signature,
    operators,
    model,
    inputs: inputs.map(
      ({ element_type: elementType, low, high, seed, list, is_given: isGiven, ...input }): BenchmarkInput => {
        const fill = { low, high, seed, ...(list && { list }) };
        return { ...input, elementType, fill, ...(isGiven && { isGiven }) };
      },
    ),
  };
}
