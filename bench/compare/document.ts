import { operatorsLabel } from '../../plugins/dlbricks/bricks/brick.js';
import type { ComparisonDocument } from '../../plugins/dlbricks/compare/comparison-result.js';
import { formatMs } from '../../plugins/dlbricks/report/words.js';

/** Kernels of one comparison in the document. */
const MOST_KERNELS = 12;

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
  const kernels = changed.slice(0, MOST_KERNELS).map((brick) => {
    const { operators, signature, before_ms: from, after_ms: to, models: of } = brick;
    const sequences = of.reduce((sum, one) => sum + one.sequences, 0);
    const difference = `${brick.difference_ms > 0 ? '+' : ''}${brick.difference_ms.toFixed(3)}`;
    const cells = [operatorsLabel(operators), signature.slice(0, 8), formatMs(from), formatMs(to), changeText(brick)];
    return `| ${[...cells, sequences, difference, of.map(({ name }) => name).join(', ')].join(' | ')} |`;
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
          `${changed.length} of ${bricks.length} kernels that both have changed; the largest differences:`,
          '',
          '| kernel | signature | before (ms) | after (ms) | change | times | all (ms) | in |',
          '|---|---|---:|---:|---:|---:|---:|---|',
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
