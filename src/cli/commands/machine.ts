import type { Command } from 'commander';
import {
  addAgentPlaceOptions,
  addQuietOption,
  addStoreOption,
  addTableOptions,
  type AgentOptions,
  COMMAND_DEFAULTS,
  type OutputOptions,
  addReuseOptions,
  type ReuseOptions,
} from '../../command/options.js';
import { measuringContext, setMeasuringExit } from '../../command/measuring-command.js';
import { prepareOutputs, writeShown } from '../../command/outputs.js';
import { shownTable } from '../../command/keyed-table.js';
import { buildProvenance } from '../../agent/provenance.js';
import { threadsSchema } from '../../base/default-threads.js';
import { counted } from '../../base/counted.js';
import { listOption, numberOption } from '../../base/option-value.js';
import type { AnalysisTable } from '../../evaluation/analysis.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { assertEnoughCores } from '../../measurement/enough-cores.js';
import { measurementWarnings } from '../../measurement/noise.js';
import { remeasureAsked } from '../../measurement/remeasure.js';
import { identifySystem, buildRunOptions, optimizedRun, type System } from '../../measurement/system.js';
import { stackText, toSystemDocument } from '../../measurement/system-document.js';
import { KnownResults } from '../../measuring/known-results.js';
import {
  PEAK_KINDS,
  PEAK_PROTOCOL,
  type PeakKind,
  type Peaks,
  computePeaks,
  peakTasks,
  computeRidge,
} from '../../measuring/machine-peaks.js';
import { Measuring } from '../../measuring/measuring.js';
import { planMeasuring } from '../../measuring/measuring-plan.js';
import { RunProgress } from '../../measuring/run-progress.js';
import { toDocument } from '../document-text.js';

interface MachineOptions extends AgentOptions, OutputOptions, ReuseOptions {
  readonly store?: string;
  readonly threads?: readonly number[];
}

interface MachineOfThreads {
  readonly system: System;
  readonly peaks: Peaks;
  /** An interruption came before all of its measurements. */
  readonly isUnfinished: boolean;
}

const WORDS: Readonly<Record<PeakKind, { readonly what: string; readonly unit: string }>> = {
  float32: { what: 'arithmetic, float32', unit: 'GFLOP/s' },
  int8: { what: 'arithmetic, int8', unit: 'GOP/s' },
  memory: { what: 'bandwidth of the memory', unit: 'GB/s' },
  cache: { what: 'bandwidth of the last-level cache', unit: 'GB/s' },
  core_cache: { what: "bandwidth of a core's cache", unit: 'GB/s' },
  call: { what: 'a call of the runtime', unit: 'ms' },
};

function buildTable(machines: readonly MachineOfThreads[]): AnalysisTable {
  const rows = machines.flatMap(({ system, peaks, isUnfinished }) =>
    PEAK_KINDS.map((kind) => {
      const peak = peaks.get(kind);
      const { what, unit } = WORDS[kind];
      return {
        threads: system.runOptions.threads,
        what,
        value: peak?.value ?? null,
        unit,
        measured_by:
          peak?.from ?? `not measured: ${isUnfinished ? 'the run was interrupted' : 'the runtime refused it'}`,
      };
    }),
  );
  const ridges = machines.flatMap(({ system, peaks }) => {
    const ridge = computeRidge(peaks);
    const { threads } = system.runOptions;
    return ridge === undefined
      ? []
      : [
          `${counted(threads, 'thread')}: ${ridge.toFixed(1)} operations for each byte from memory (float32); a kernel with fewer waits for memory`,
        ];
  });
  return {
    columns: [
      { key: 'threads', title: 'threads', align: 'right' },
      { key: 'what', title: 'peak', align: 'left' },
      { key: 'value', title: 'value', align: 'right' },
      { key: 'unit', title: 'unit', align: 'left' },
      { key: 'measured_by', title: 'measured by', align: 'left' },
    ],
    rows,
    notes: [...ridges, 'Peaks are what the runtime reaches here, not what the processor is sold for.'],
  };
}

export function registerMachineCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('machine')
    .description('Measure what bounds kernels here: arithmetic, bandwidth of memory and caches, a call of the runtime');
  addReuseOptions(addQuietOption(addTableOptions(addAgentPlaceOptions(addStoreOption(command)), 'peak')))
    .option(
      '--threads <n,...>',
      `numbers of the runtime's threads, as in 1,2 (default: ${COMMAND_DEFAULTS.threads})`,
      listOption(numberOption(threadsSchema)),
    )
    .addHelpText(
      'after',
      `
Peaks are ordinary measurements in the store, so that a second call measures
nothing. 'mlmodelscope analyze xsp kernel-roofline' and 'dlbricks advise' read
them.

Examples:
  mlmodelscope machine --threads 1,2
  mlmodelscope machine --fresh --export-json machine.json`,
    )
    .action((options: MachineOptions) => measureAndShow(options, host));
}

async function measureAndShow(options: MachineOptions, host: CommandHost): Promise<void> {
  const outputs = await prepareOutputs(options);
  const agent = await host.connect(options.agent, options.framework);
  const remeasure = remeasureAsked(options.remeasure);
  const runs = (options.threads ?? [COMMAND_DEFAULTS.threads]).map((threads) => {
    return optimizedRun(buildRunOptions(threads, agent.description));
  });
  for (const runOptions of runs) assertEnoughCores(runOptions, agent.description);
  const store = await host.openStore(options.store);
  const progress = host.progress(outputs.quiet);
  const context = measuringContext({ agent, store }, progress, host);
  const machines: MachineOfThreads[] = [];
  const warnings: string[] = [];
  try {
    for (const runOptions of runs) {
      const { threads } = runOptions;
      const system = identifySystem(agent.description, runOptions);
      const results = new KnownResults();
      const tasks = peakTasks(agent.description, runOptions);
      const phase = await planMeasuring(tasks, results, { system, store, remeasure });
      const running = new RunProgress();
      running.add(phase.missing);
      const measuring = new Measuring(context, system, results, running);
      await measuring.measure(phase.missing, remeasure);
      await measuring.replaceWhileQuiet(phase.disturbed);
      const isUnfinished = tasks.some(({ request }) => results.get(request) === undefined);
      machines.push({ system, peaks: computePeaks(agent.description, runOptions, results), isUnfinished });
      const noise = measurementWarnings([...results.measurements()], { threads, cores: system.cores });
      for (const { message } of noise) warnings.push(message);
    }
    for (const message of warnings) host.warn(`warning: ${message}`);
  } finally {
    progress.stop();
  }
  const [first] = machines;
  const table = buildTable(machines);
  const document = toDocument('machine', {
    provenance: buildProvenance({ agent, protocol: PEAK_PROTOCOL }),
    warnings,
    machines: machines.map(({ system, peaks }) => ({
      system,
      peaks: [...peaks.values()].map((peak) => ({ ...peak, unit: WORDS[peak.kind].unit })),
      ridge: computeRidge(peaks) ?? null,
    })),
  });
  const title = first === undefined ? 'Peaks' : `Peaks of ${stackText(toSystemDocument(first.system))}`;
  await writeShown(shownTable(table, { document, title, warnings }), outputs, host);
  setMeasuringExit(host, { isPartial: machines.some(({ peaks }) => peaks.size < PEAK_KINDS.length) });
}
