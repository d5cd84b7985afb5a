import type { Command } from 'commander';
import { PlatformError } from '../../base/errors.js';
import { EXIT_PARTIAL, EXIT_REFUSED } from '../../base/exit-codes.js';
import { wholeNumberOption } from '../../base/option-value.js';
import { shownTable } from '../../command/keyed-table.js';
import {
  addAgentPlaceOptions,
  addQuietOption,
  addTableOptions,
  type AgentOptions,
  type OutputOptions,
} from '../../command/options.js';
import { prepareOutputs, type Shown, writeShown } from '../../command/outputs.js';
import type { AnalysisTable } from '../../evaluation/analysis.js';
import type { Plugin } from '../../evaluation/plugin.js';
import { showEvent } from '../../evaluation/show-event.js';
import { readLog } from '../../reference-log/read-log.js';
import { planReproduction, reproduce } from '../../reference-log/reproduce.js';
import type { Reproduction } from '../../reference-log/reproduction-schema.js';
import type { OwnedHost } from '../host.js';

interface ReproduceFlags extends OutputOptions, AgentOptions {
  readonly processes?: number;
}

const DEFAULT_PROCESSES = 5;

const COLUMNS: AnalysisTable['columns'] = [
  { key: 'model', title: 'model', align: 'left' },
  { key: 'batch', title: 'batch', align: 'right' },
  { key: 'threads', title: 'threads', align: 'right' },
  { key: 'outputs', title: 'outputs', align: 'left' },
  { key: 'logged_ms', title: 'log', unit: 'ms', align: 'right' },
  { key: 'now_ms', title: 'now', unit: 'ms', align: 'right' },
  { key: 'ratio', title: 'ratio', align: 'right' },
  { key: 'ratio_low', title: 'from', align: 'right' },
  { key: 'ratio_high', title: 'to', align: 'right' },
  { key: 'performance', title: 'performance', align: 'left' },
];

function listNotes({ conditions, outputs, performance, models }: Reproduction): readonly string[] {
  const of = (matter: boolean): string => {
    const found = conditions.differences.filter(({ matters }) => matters === matter);
    return found.map(({ aspect, logged, now }) => `${aspect} (${logged}, now ${now})`).join('; ');
  };
  const others = of(false);
  return [
    `outputs: ${outputs}`,
    ...models.flatMap(({ model, outputs_detail: detail, first_layer: layer }) => {
      const place = layer === null ? '' : `; the first value between layers that differs is ${layer}`;
      return detail === '' ? [] : [`${model}: ${detail}${place}`];
    }),
    `performance: ${performance}`,
    ...(performance === 'unclear'
      ? [
          'unclear: the interval contains 1, and half of it is above 10 %; a quieter machine or more --processes narrow it',
        ]
      : []),
    `conditions: ${conditions.verdict}${conditions.verdict === 'comparable' ? '' : `: ${of(true)}`}`,
    ...(others === '' ? [] : [`also different: ${others}`]),
  ];
}

function shownReproduction(document: Reproduction): Shown {
  const { outputs, performance, conditions, log } = document;
  const table = { columns: COLUMNS, rows: document.models, notes: [...listNotes(document)] };
  const title = `Reproduction of ${log.command} of ${log.created_at.slice(0, 10)}`;
  return shownTable(table, {
    document,
    title,
    verdict: `outputs: ${outputs}; performance: ${performance}; ${conditions.verdict}`,
    kept: ['outputs', 'performance'],
  });
}

export function registerReproduceCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
  const command = program
    .command('reproduce')
    .description('Run a reference log again, and say whether outputs, performance and conditions are the same')
    .argument('<log>', 'file that --log wrote')
    .option(
      '--processes <n>',
      `processes to measure where the log's figure is of one process (default: ${DEFAULT_PROCESSES})`,
      wholeNumberOption(2, 100),
    );
  addQuietOption(addTableOptions(addAgentPlaceOptions(command)))
    .addHelpText(
      'after',
      `
--log of 'latency', 'dlbricks run', 'validate' and 'sweep', and 'evaluate'
writes a log. This command first looks for manifests, graphs, weights and inputs
that are missing or changed, and lists them; it opens only files in the log's
folder. Then it measures everything again, in a store of its own that is gone
afterwards.

outputs      same bits; within a relative difference of 0.001; or different
performance  reproduced where the 95 % interval of the ratio contains 1 and half
             of it is at most 10 %
conditions   comparable where nothing differs that latencies depend on

The exit code is 0 where all is reproduced, 3 where it is not, and 4 where the
log cannot be run or the conditions are not comparable.

Examples:
  mlmodelscope reproduce resnet18.yml
  mlmodelscope reproduce resnet18.yml --agent 10.0.0.7:7070 --export-json -`,
    )
    .action(async (path: string, flags: ReproduceFlags) => {
      const outputs = await prepareOutputs(flags);
      const log = await readLog(path);
      const evaluations = plugins.flatMap(({ evaluation }) => evaluation ?? []);
      const { problems, planned } = await planReproduction(path, log, evaluations);
      if (problems.length > 0) {
        host.warn([`${path} cannot be reproduced:`, ...problems].join('\n  '));
        host.setExitCode(EXIT_REFUSED);
        return;
      }
      const progress = host.progress(outputs.quiet);
      const { processes = DEFAULT_PROCESSES } = flags;
      const tools = {
        evaluations,
        connect: () => host.connect(flags.agent, flags.framework),
        signal: host.signal,
        onEvent: (event: Parameters<typeof showEvent>[0]) => showEvent(event, progress),
        processes,
      };
      const document = await reproduce(log, planned, tools).finally(() => progress.stop());
      if (host.signal.aborted) throw new PlatformError('cancelled', 'interrupted before everything was measured again');
      await writeShown(shownReproduction(document), outputs, host);
      const isSame = document.outputs === 'same' || document.outputs === 'within tolerance';
      if (document.conditions.verdict !== 'comparable') host.setExitCode(EXIT_REFUSED);
      else if (!isSame || document.performance !== 'reproduced') host.setExitCode(EXIT_PARTIAL);
    });
}
