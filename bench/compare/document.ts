import { groupedBy, sumOf } from '../../src/plugin-api.js';
import { operatorsLabel } from '../../plugins/dlbricks/bricks/brick.js';
import type { ComparisonDocument } from '../../plugins/dlbricks/compare/comparison-schema.js';
import { formatMs } from '../../src/base/format-ms.js';

/** Kinds of kernels of one comparison in the document. */
const MAX_KINDS = 12;

interface Change {
  readonly ratio: number | null;
  readonly ratio_low: number | null;
  readonly ratio_high: number | null;
}

function signed(ratio: number): string {
  return `${ratio >= 1 ? '+' : ''}${(100 * (ratio - 1)).toFixed(1)}`;
}

function changeText({ ratio, ratio_low: low, ratio_high: high }: Change): string {
  if (ratio === null) return '–';
  return `${signed(ratio)} %${low === null || high === null ? '' : ` (${signed(low)} to ${signed(high)})`}`;
}

/** The operators of a kernel, and those that take its place where the other version has different ones. */
function kindOf({ operators, after_operators: after }: ComparisonDocument['bricks'][number]): string {
  return after === null ? operatorsLabel(operators) : `${operatorsLabel(operators)} → ${operatorsLabel(after)}`;
}

type ModelRow = ComparisonDocument['models'][number];

function measured({ measured_ratio, measured_ratio_low, measured_ratio_high }: ModelRow): Change {
  return { ratio: measured_ratio, ratio_low: measured_ratio_low, ratio_high: measured_ratio_high };
}

/** Models of one comparison, and the kernels behind their changes. */
function comparisonLines(document: ComparisonDocument): readonly string[] {
  const { before, after, models, bricks, geometric_mean: overall, rounds } = document;
  const { unmatched_before_percent: alone, unmatched_after_percent: aloneAfter } = document;
  const changed = bricks.filter(({ verdict }) => verdict === 'faster' || verdict === 'slower');
  const share = (value: number | null): string => (value === null ? '–' : `${value.toFixed(1)} %`);
  const kinds = [...groupedBy(changed, kindOf)]
    .map(([kind, of]) => ({ kind, of, differenceMs: sumOf(of.map((brick) => brick.difference_ms)) }))
    .sort((a, b) => Math.abs(b.differenceMs) - Math.abs(a.differenceMs));
  const kernels = kinds.slice(0, MAX_KINDS).map(({ kind, of, differenceMs }) => {
    const ratios = of.flatMap(({ ratio }) => ratio ?? []);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(signed);
    const models = of.flatMap((brick) => brick.models);
    const cells = [kind, of.length, least === most ? `${least} %` : `${least} to ${most} %`];
    const all = `${differenceMs > 0 ? '+' : ''}${differenceMs.toFixed(3)}`;
    const names = [...new Set(models.map(({ name }) => name))].join(', ');
    return `| ${[...cells, sumOf(models.map(({ sequences }) => sequences)), all, names].join(' | ')} |`;
  });
  return [
    `## ${before} and ${after}`,
    '',
    `${rounds} rounds by turns. *change* is the time with ${after} over the time with ${before}.`,
    '',
    '| model | before (ms) | after (ms) | change, from bricks | change of the whole model | verdict |',
    '|---|---:|---:|---:|---:|---|',
    ...models.map((row) => {
      const { model, before_ms: from, after_ms: to, verdict, reason } = row;
      const cells = [model, formatMs(from), formatMs(to), changeText(row), changeText(measured(row))];
      return `| ${[...cells, reason ?? verdict ?? '–'].join(' | ')} |`;
    }),
    '',
    `Geometric mean of the estimates: ${changeText(overall)}. Kernels of one side alone: ${share(alone)} of the time before, ${share(aloneAfter)} after.`,
    '',
    ...(kernels.length === 0
      ? [`None of ${bricks.length} kernels that both have changed by more than could be seen.`]
      : [
          `${changed.length} of ${bricks.length} kernels that both have changed, by kind:`,
          '',
          '| kernels | different ones | change | times | all (ms) | in |',
          '|---|---:|---:|---:|---:|---|',
          ...kernels,
        ]),
    '',
  ];
}

/** The page of `make bench-compare`, without the analysis. */
export function compareDocument(documents: readonly ComparisonDocument[], machine: string): string {
  return [
    '# Versions of ONNX Runtime compared',
    '',
    'Written by `make bench-compare`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    machine,
    'Both versions are measured by turns in the same minutes ([compare.md](../compare.md)). All intervals of one comparison',
    'contain all of its changes at once with 95 % probability.',
    '',
    ...documents.flatMap(comparisonLines),
  ].join('\n');
}
