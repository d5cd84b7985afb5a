import { OUTPUT_VERDICTS, provenanceField, type Shown, shownTable, worst, z } from '../../../src/plugin-api.js';

const figure = z.number().nullable();

export const agreementSchema = z.strictObject({
  provenance: provenanceField,
  before: z.string().describe('The first side, or the first model'),
  after: z.string(),
  verdict: z.enum(OUTPUT_VERDICTS).describe('The worst of the outputs'),
  aspects: z
    .array(
      z.strictObject({
        aspect: z.string(),
        before: z.string(),
        after: z.string(),
        input_difference: figure.describe(
          'The largest difference that this step alone makes in the input; null where it is no step',
        ),
      }),
    )
    .describe('What differs between the two sides'),
  outputs: z.array(
    z.strictObject({
      model: z.string(),
      input: z.string().describe('A picture, or made up from seeds'),
      precision: z.string().describe('The coarsest one that the two sides compute in'),
      tolerance: z.number().describe('The largest relative difference that counts as agreement in this precision'),
      output: z.string(),
      elements: z.int().describe('Elements that were compared; a large output is compared by every so many-th'),
      largest_difference: figure,
      relative_difference: figure.describe('Over the largest element of the first side'),
      cosine: figure,
      top_1: figure.describe('Share of rows with the same largest element; null for an output without rows of scores'),
      top_5: figure.describe('Share of the five largest elements that the two sides have in common'),
      verdict: z.enum(OUTPUT_VERDICTS),
      parts_at: z.string().nullable().describe('The first value between layers that differs beyond the tolerance'),
      parts_operator: z.string().nullable().describe('The operator that computes it'),
      parts_by: figure.describe('Its relative difference'),
      reason: z.string().nullable().describe('Why there are no figures'),
    }),
  ),
});

export type AgreementDocument = z.infer<typeof agreementSchema>;

export type DifferingAspect = AgreementDocument['aspects'][number];

export type ComparedOutput = AgreementDocument['outputs'][number];

export function verdictOfAll(outputs: AgreementDocument['outputs']): AgreementDocument['verdict'] {
  const verdicts = outputs.map(({ verdict }) => verdict);
  return worst(OUTPUT_VERDICTS, verdicts) ?? 'not known';
}

function listNotes({ aspects, outputs, verdict }: AgreementDocument): readonly string[] {
  const lines = new Set<string>();
  for (const { model, precision, tolerance } of outputs) {
    lines.add(`${model}: within tolerance up to a relative difference of ${tolerance} (${precision})`);
  }
  for (const { model, input, output, reason, parts_at: at, parts_operator: operator, parts_by: by } of outputs) {
    const where = `${model}, ${input}`;
    if (reason !== null) lines.add(`${where}, ${output}: not compared: ${reason}`);
    if (at === null) continue;
    const much = by === null ? '' : ` (relative difference ${Number(by.toPrecision(3))})`;
    lines.add(`${where}: the two part at ${at}${operator === null ? ', an input' : `, of ${operator}`}${much}`);
  }
  const listed = aspects.map(({ aspect, before, after, input_difference: by }) => {
    const makes = by === null ? '' : `, which alone changes the input by up to ${Number(by.toPrecision(3))}`;
    return `${aspect} (${before}, then ${after}${makes})`;
  });
  if (listed.length === 0) lines.add('the two sides have the same machine, runtime, settings, graph and steps');
  else if (verdict === 'same') lines.add(`changes nothing here: ${listed.join('; ')}`);
  else if (verdict === 'not known') lines.add(`different: ${listed.join('; ')}`);
  else if (listed.length === 1) lines.add(`only this differs, so the difference is put down to it: ${listed.join('')}`);
  else lines.add(`confounded: ${listed.join('; ')}`);
  return [...lines];
}

export function shownAgreement(document: AgreementDocument): Shown {
  const { before, after, outputs, verdict } = document;
  const table = {
    columns: [
      { key: 'model', title: 'model', align: 'left' },
      { key: 'input', title: 'input', align: 'left' },
      { key: 'output', title: 'output', align: 'left' },
      { key: 'largest_difference', title: 'largest difference', align: 'right' },
      { key: 'relative_difference', title: 'relative', align: 'right' },
      { key: 'cosine', title: 'cosine', align: 'right' },
      { key: 'top_1', title: 'top-1', align: 'right' },
      { key: 'top_5', title: 'top-5', align: 'right' },
      { key: 'verdict', title: 'verdict', align: 'left' },
    ],
    rows: outputs,
    notes: listNotes(document),
  } as const;
  const title = `Agreement of ${after} with ${before}`;
  return shownTable(table, { document, title, verdict: `Outputs: ${verdict}`, kept: ['verdict'] });
}
