import { batchSizeField, PlatformError, readJsonFile, schemaProblems, z } from '../../../src/plugin-api.js';

const MAX_PROBLEMS = 20;

const signatureSchema = z.string().regex(/^[0-9a-f]{64}$/);

const MAX_LAYERS = 1_000_000;

/** The brick's latency is (benchmark - baseline) / copies. */
const copiesSchema = z.strictObject({
  copies: z.int().min(1).max(1024),
  benchmark: signatureSchema,
  /** The same call without them. */
  baseline: signatureSchema,
});

/** Work or sizes depend on made-up values; see made-up-values.ts. */
const madeUpValuesSchema = z.strictObject({
  operators: z.array(z.strictObject({ operator: z.string(), count: z.int().min(1) })),
  /** Number of their layers or kernels, and of those after them whose sizes follow from theirs. */
  kernels: z.int().min(1).max(MAX_LAYERS),
  sequences: z.array(z.int().nonnegative()),
});

export type MadeUpPart = z.infer<typeof madeUpValuesSchema>;

const modelRecipeSchema = z.strictObject({
  name: z.string().min(1),
  layers: z.int().nonnegative().max(MAX_LAYERS),
  /** The empty call, a part of every run; absent where the bricks contain it. */
  call: signatureSchema.optional(),
  /** Their difference is the cost of handing over the outputs; absent where that is nothing. */
  handing_over: z.strictObject({ leaving: signatureSchema, staying: signatureSchema }).optional(),
  /** Touched by one run, where bricks are measured together; see computeFootprint. */
  footprint_bytes: z.int().min(1).optional(),
  bricks: z.array(
    z.strictObject({
      signature: signatureSchema,
      operators: z.array(z.string()),
      /** Shapes of its inputs, weights included, as in 1x3x224x224; absent in recipes of earlier versions. */
      shapes: z.array(z.string().max(200)).optional(),
      /** Absent where the brick itself is measured: together with others if its model has a footprint, else alone. */
      context: copiesSchema.optional(),
    }),
  ),
  sequences: z.array(z.int().nonnegative()),
  /** As indices into `sequences`: `to` reads an output of `from`. */
  edges: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative()])),
  made_up_values: madeUpValuesSchema.optional(),
});

export type ModelRecipe = z.infer<typeof modelRecipeSchema>;

export type BrickRecipe = ModelRecipe['bricks'][number];

/** Its owner keeps it. With measurements of the bricks it gives each model's latency. */
export const recipeSchema = z
  .strictObject({
    /** Version 1 has no footprints. */
    format: z.enum(['dlbricks-recipe/1', 'dlbricks-recipe/2']),
    cut: z.enum(['layer', 'kernel']),
    granularity: z.int().min(1).max(MAX_LAYERS),
    batch: batchSizeField,
    models: z.array(modelRecipeSchema).min(1),
  })
  .superRefine(({ models }, context) => {
    for (const [m, { bricks, sequences, edges, made_up_values: madeUp }] of models.entries()) {
      const report = (message: string, ...path: (string | number)[]): void =>
        context.addIssue({ code: 'custom', path: ['models', m, ...path], message });
      for (const [i, brick] of sequences.entries()) if (brick >= bricks.length) report('no such brick', 'sequences', i);
      for (const sequence of madeUp?.sequences ?? [])
        if (sequence >= sequences.length) report('no such sequence', 'made_up_values');
      for (const [i, [from, to]] of edges.entries())
        if (from >= to || to >= sequences.length) report('an edge goes from a sequence to a later one', 'edges', i);
    }
  });

export type Recipe = z.infer<typeof recipeSchema>;

/** @throws PlatformError `usage` where the file is missing or no recipe */
export async function readRecipe(path: string): Promise<Recipe> {
  const remedy = "'dlbricks generate' writes one as recipe.json";
  const content = await readJsonFile(path, 'recipe', remedy, ({ format }) => /^dlbricks-recipe\//.test(String(format)));
  const parsed = recipeSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const problems = schemaProblems(parsed.error, { whole: 'recipe', most: MAX_PROBLEMS });
  throw new PlatformError('usage', problems.map((problem) => `${path}: ${problem}`).join('\n'));
}

export const RECIPE_FORMAT = 'dlbricks-recipe/2';

export function countBricks({ bricks, sequences }: Pick<ModelRecipe, 'bricks' | 'sequences'>): readonly number[] {
  const counts = bricks.map(() => 0);
  for (const brick of sequences) counts[brick] = (counts[brick] ?? 0) + 1;
  return counts;
}

/** How many times one sequence of this brick is the sum of: as copies, its kernels are measured together. */
export function countTimed({ operators, context }: BrickRecipe): number {
  return context === undefined ? operators.length : 1;
}

export function countKernels({ bricks, sequences }: ModelRecipe): number {
  return sequences.reduce((sum, brick) => sum + (bricks[brick]?.operators.length ?? 0), 0);
}
