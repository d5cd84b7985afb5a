import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  type BenchmarkInput,
  isElementType,
  makeFolder,
  PlatformError,
  messageOf,
  parseModel,
  schemaProblems,
  signatureOf,
  writeFileAtomically,
  z,
} from '../../../src/plugin-api.js';
import { type Brick, roleOf } from '../bricks/brick.js';
import { type EmptyCall, inContext, MOST_COPIES, type MeasurableBrick } from '../bricks/in-context.js';
import { type OptimizedFor, optimizedForSchema } from './optimized-for.js';
import type { Recipe } from '../bricks/recipe.js';

const MOST_BRICK_BYTES = 64 * 2 ** 20;
const MOST_SUITE_BYTES = 256 * 2 ** 20;

/** Inputs or outputs of a model that is worth a suite. */
const MOST_ENDS = 10_000;

const inputSchema = z.strictObject({
  name: z.string().min(1).max(64),
  role: z.enum(['weight', 'activation']),
  element_type: z.string().refine(isElementType, 'not an element type'),
  dims: z.array(z.int().nonnegative()).max(64),
  /** Values are drawn uniformly from [low, high]. */
  low: z.number(),
  high: z.number(),
  seed: z.int().nonnegative(),
});

const brickSchema = z.strictObject({
  signature: z.string().regex(/^[0-9a-f]{64}$/),
  operators: z.array(z.string().max(256)),
  inputs: z.array(inputSchema),
  /** In how many copies it is to be measured, once each; absent where it is measured on its own. */
  copies: z.array(z.int().min(1).max(MOST_COPIES)).min(1).max(16).optional(),
});

type BrickDocument = z.infer<typeof brickSchema>;

const suiteSchema = z.strictObject({
  format: z.literal('dlbricks-suite/1'),
  cut: z.enum(['layer', 'kernel']),
  granularity: z.int().min(1),
  /** What its graphs were optimized for; absent at the layer cut. */
  optimized_for: optimizedForSchema.optional(),
  /** Empty calls that the models' runs pay for: how many inputs and outputs. */
  calls: z
    .array(z.strictObject({ inputs: z.int().min(0).max(MOST_ENDS), outputs: z.int().min(1).max(MOST_ENDS) }))
    .optional(),
  bricks: z
    .array(brickSchema)
    .min(1)
    .refine(
      (bricks) => new Set(bricks.map(({ signature }) => signature)).size === bricks.length,
      'a brick is there twice',
    ),
});

/** The unique bricks of a set of models, ready to be measured by somebody who has none of the models. */
export interface Suite {
  readonly cut: 'layer' | 'kernel';
  readonly granularity: number;
  /** What its graphs were optimized for; undefined at the layer cut, where nothing was. */
  readonly optimizedFor?: OptimizedFor | undefined;
  /** Each with the context that it is to be measured in; a brick that stands in several is there several times. */
  readonly bricks: readonly MeasurableBrick[];
  /** Empty calls to be measured beside them. */
  readonly calls?: readonly EmptyCall[];
}

/** Where in a suite's folder a brick's file is. */
export function brickPath(signature: string): string {
  return join('bricks', `${signature}.onnx`);
}

function bySignature(a: Brick, b: Brick): number {
  return a.signature < b.signature ? -1 : 1;
}

/** The numbers of copies of each brick, in ascending order. */
function copiesOf(bricks: readonly MeasurableBrick[], signature: string): { readonly copies?: number[] } {
  const copies = bricks.flatMap((brick) => (brick.signature === signature ? (brick.context?.copies ?? []) : []));
  return copies.length === 0 ? {} : { copies: [...new Set(copies)].sort((a, b) => a - b) };
}

function suiteDocument({ cut, granularity, optimizedFor, bricks, calls }: Suite): z.infer<typeof suiteSchema> {
  const unique = new Map(bricks.map((brick) => [brick.signature, brick]));
  return {
    format: 'dlbricks-suite/1',
    cut,
    granularity,
    ...(optimizedFor === undefined ? {} : { optimized_for: optimizedFor }),
    ...(calls === undefined || calls.length === 0 ? {} : { calls: [...calls] }),
    bricks: [...unique.values()].map(({ signature, operators, inputs }) => ({
      signature,
      operators: [...operators],
      inputs: inputs.map(({ name, role, elementType, dims, fill }) => ({
        name,
        role,
        element_type: elementType,
        dims: [...dims],
        ...fill,
      })),
      ...copiesOf(bricks, signature),
    })),
  };
}

/** Removes what is there; what cannot be removed could not be made either, and why matters more. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}

/**
 * Writes `DIR/suite` and `DIR/recipe.json`. The suite holds nothing of the models but their unique bricks, in the order
 * of their signatures; everything that relates bricks to models is in the recipe. Both appear whole or not at all.
 *
 * @throws PlatformError `usage` where they exist already, `storage` where they cannot be written
 */
export async function writeSuite(folder: string, suite: Suite, recipe: Recipe): Promise<void> {
  const target = join(folder, 'suite');
  const recipePath = join(folder, 'recipe.json');
  const temporary = join(folder, `.suite-${randomUUID()}`);
  for (const path of [target, recipePath]) {
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    if (exists)
      throw new PlatformError('usage', `${path} exists already; name another folder with -o, or remove it first`);
  }
  try {
    makeFolder(join(temporary, dirname(brickPath(''))));
    const sorted = { ...suite, bricks: [...suite.bricks].sort(bySignature) };
    for (const brick of sorted.bricks) await writeFile(join(temporary, brickPath(brick.signature)), brick.model);
    await writeFile(join(temporary, 'suite.json'), `${JSON.stringify(suiteDocument(sorted), null, 1)}\n`);
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

async function readLimited(path: string, mostBytes: number): Promise<Buffer> {
  const info = await stat(path).catch((error: unknown) => {
    throw new PlatformError(
      'usage',
      `${path}: ${messageOf(error)}; a suite is a folder with suite.json and bricks/, as 'dlbricks generate' writes it`,
    );
  });
  if (!info.isFile() || info.size > mostBytes) {
    throw new PlatformError(
      'usage',
      `${path}: expected a file of at most ${mostBytes} bytes, found ${info.isFile() ? `${info.size} bytes` : 'none'}`,
    );
  }
  return readFile(path);
}

/**
 * Reads a suite that may come from anybody: every brick's file must have the content that its signature promises, be a
 * readable graph, and agree with the list of its inputs.
 *
 * @throws PlatformError `usage` with every problem of suite.json, or the first brick that is not what it claims to be
 */
export async function readSuite(folder: string): Promise<Suite> {
  const path = join(folder, 'suite.json');
  const text = (await readLimited(path, MOST_SUITE_BYTES)).toString('utf8');
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new PlatformError('usage', `${path}: not JSON: ${messageOf(error)}`, { cause: error });
  }
  const parsed = suiteSchema.safeParse(content);
  if (!parsed.success) {
    const problems = schemaProblems(parsed.error, { whole: 'suite', most: 20 });
    throw new PlatformError('usage', problems.map((problem) => `${path}: ${problem}`).join('\n'));
  }
  const bricks: MeasurableBrick[] = [];
  for (const document of parsed.data.bricks) {
    const brick = await readBrick(folder, document);
    if (document.copies === undefined) bricks.push(brick);
    for (const copies of document.copies ?? []) bricks.push({ ...brick, context: inContext(brick, copies) });
  }
  const { cut, granularity, optimized_for: optimizedFor, calls } = parsed.data;
  return {
    cut,
    granularity,
    ...(optimizedFor === undefined ? {} : { optimizedFor }),
    bricks,
    ...(calls === undefined ? {} : { calls }),
  };
}

interface DescribedInput {
  readonly name: string;
  readonly role: BenchmarkInput['role'];
  readonly elementType?: string;
  readonly dims?: readonly unknown[] | undefined;
}

function described({ name, role, elementType = 'unknown', dims = [] }: DescribedInput): string {
  return `${name} (${role}, ${elementType} [${dims.join(', ')}])`;
}

/** A brick's file, checked against what suite.json says about it. */
async function readBrick(folder: string, { signature, operators, inputs }: BrickDocument): Promise<Brick> {
  const file = join(folder, brickPath(signature));
  const model = await readLimited(file, MOST_BRICK_BYTES);
  if (signatureOf(model) !== signature) {
    throw new PlatformError(
      'usage',
      `${file}: its content is not what its name promises (SHA-256); get the suite again from its author`,
    );
  }
  const { graph } = parseModel(model, file);
  const expected = graph.inputs.map((name) => described({ name, role: roleOf(name), ...graph.types.get(name) }));
  const found = inputs.map(({ element_type: elementType, ...input }) => described({ ...input, elementType }));
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
    inputs: inputs.map(({ name, role, element_type, dims, low, high, seed }): BenchmarkInput => {
      return { name, role, elementType: element_type, dims, fill: { low, high, seed } };
    }),
  };
}
