import { inspect } from 'node:util';
import { counted } from '../base/counted.js';
import { PlatformError } from '../base/errors.js';
import { EXIT_PARTIAL } from '../base/exit-codes.js';
import { fittingTable } from '../base/fitting-table.js';
import { type Column, textTable, left, right } from '../base/text-table.js';
import { type Outputs, writeShown } from '../command/outputs.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { Plugin } from '../evaluation/plugin.js';
import type { ShownResult } from '../evaluation/evaluation.js';
import { type EstimateEvent, type EvaluationOutcome, parseResult } from './evaluations.js';
import type { OwnedHost } from './host.js';
import { shownSystems, type ShowOne } from './shown-systems.js';

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toPrecision(4);
}

const COLUMNS: readonly Column<EstimateEvent>[] = [
  left('model', ({ model }) => model),
  right('latency (ms)', ({ latencyMs }) => ms(latencyMs)),
  right('interval (ms)', ({ lowMs, highMs }) =>
    lowMs === undefined || highMs === undefined ? '' : `${ms(lowMs)} to ${ms(highMs)}`,
  ),
  right('coverage', ({ coverage }) => `${Math.floor(coverage * 100)} %`),
];

/** The result of every plugin: a row for each estimate. */
function shownEstimates({ estimates, done }: EvaluationOutcome): ShownResult {
  return {
    result: () => ({
      document: parseResult(done),
      records: {
        keys: ['model', 'latency_ms', 'low_ms', 'high_ms', 'coverage'],
        rows: estimates.map(({ model, latencyMs, lowMs, highMs, coverage }) => {
          return [model, latencyMs, lowMs, highMs, coverage];
        }),
      },
      table: textTable(COLUMNS, estimates),
      notes: [],
    }),
    page: () => ({
      title: `Latency of ${counted(estimates.length, 'model')}`,
      sections: [{ title: 'Estimates', table: textTable(COLUMNS, estimates) }],
    }),
    text: ({ width }) => `${fittingTable(COLUMNS, estimates, { width, dispensable: ['coverage'] }).text}\n`,
  };
}

/** The plugin's evaluation of this name; undefined where this command does not have the plugin. */
export function findEvaluation(name: string, plugins: readonly Plugin[]): Evaluation | undefined {
  return plugins.flatMap(({ evaluation }) => evaluation ?? []).find((evaluation) => evaluation.name === name);
}

/** A plugin is foreign code. */
function withCheckedText(plugin: string, { result, page, text }: ShownResult): ShownResult {
  return {
    result,
    ...(page && { page }),
    text: (options) => {
      const found: unknown = text(options);
      if (typeof found === 'string') return found;
      const problem = `text() of the result that the plugin ${plugin} shows returned ${inspect(found, { depth: -1 })}`;
      throw new PlatformError('internal', `${problem}, expected a string; report it to its author`);
    },
  };
}

/** As its plugin's own commands show it, or for several systems a table; undefined where no plugin understands it. */
export function shownDocument(
  document: unknown,
  { plugin, plugins, wide }: Pick<ShowOutcomeOptions, 'plugin' | 'plugins' | 'wide'>,
): ShownResult | undefined {
  const show: ShowOne = (one) => {
    const shown = findEvaluation(plugin, plugins)?.show?.(one, { wide });
    return shown && withCheckedText(plugin, shown);
  };
  return shownSystems(document, wide ? show : undefined) ?? show(document);
}

export interface ShowOutcomeOptions {
  readonly plugin: string;
  readonly plugins: readonly Plugin[];
  readonly outputs: Outputs;
  readonly json: boolean;
  readonly wide: boolean;
}

/** Without the plugin, or the result, it shows the estimates. Sets the exit code where the result is partial. */
export async function showOutcome(
  outcome: EvaluationOutcome,
  { plugin, plugins, outputs, json, wide }: ShowOutcomeOptions,
  host: OwnedHost,
): Promise<void> {
  const { done } = outcome;
  const document = done.resultJson === undefined ? undefined : parseResult(done);
  const shown = shownDocument(document, { plugin, plugins, wide }) ?? shownEstimates(outcome);
  await writeShown(shown, json ? { ...outputs, quiet: true } : outputs, host);
  if (json) host.print(`${JSON.stringify(parseResult(done), null, 2)}\n`);
  if (done.partial) host.setExitCode(EXIT_PARTIAL);
}
