import { type Command, Option } from 'commander';
import {
  counted,
  addStoreOption,
  type CommandHost,
  PlatformError,
  readTrace,
  TRACE_FORMATS,
  type TracedModel,
  type TraceFormat,
  oneLine,
  storeTraces,
  append,
} from '../../../src/plugin-api.js';

export interface TraceReadingOptions {
  readonly format?: TraceFormat;
  readonly system?: string;
  readonly model?: string;
  readonly quiet?: boolean;
}

export function formatOption(): Option {
  return new Option('--format <format>', 'format of the traces (default: detected from the first bytes)').choices(
    TRACE_FORMATS,
  );
}

export async function readTraces(
  files: readonly string[],
  options: TraceReadingOptions,
  host: CommandHost,
): Promise<readonly TracedModel[]> {
  const progress = host.progress(options.quiet ?? false);
  const models: TracedModel[] = [];
  try {
    for (const [done, file] of files.entries()) {
      progress.step('reading', done, files.length, file);
      const onProgress = (bytes: number): void => progress.within(`${Math.round(bytes / 1e6)} MB`);
      append(models, await readTrace(file, { ...options, signal: host.signal, onProgress }));
    }
  } finally {
    progress.stop();
  }
  return models;
}

/** @throws PlatformError `usage` where no system is named, or the trace names another */
export function withSystem(
  models: readonly TracedModel[],
  system: string | undefined,
): readonly (TracedModel & { readonly system: string })[] {
  return models.map((model) => {
    const known = model.system ?? system;
    if (known === undefined) {
      const problem = `${model.source}: the trace does not name its system; name it with --system NAME`;
      throw new PlatformError('usage', `${problem}, and use one name for measurements that may be combined`);
    }
    if (system !== undefined && known !== system) {
      const [found, said] = [known, system].map((name) => JSON.stringify(name));
      const problem = `${model.source}: the trace is from the system ${found ?? ''}, but --system says ${said ?? ''}`;
      throw new PlatformError('usage', `${problem}; leave --system out, or split the file`);
    }
    return { ...model, system: known };
  });
}

interface ImportOptions extends TraceReadingOptions {
  readonly store?: string;
}

export function registerImport(parent: Command, host: CommandHost): void {
  const command = parent
    .command('import')
    .description('Store the layer times of traces from other tools, for compose --from-store')
    .argument('<file...>', 'trace of ONNX Runtime, PyTorch, Jaeger or OTLP, or a layer table')
    .addOption(formatOption())
    .option('--system <name>', 'system that the traces are from, if the traces do not name it')
    .option('--model <name>', 'model in the traces (default: the name in the trace, else the name of the file)')
    .option('--quiet', 'errors and warnings only');
  addStoreOption(command)
    .addHelpText(
      'after',
      `
Formats: onnxruntime (a profile), chrome (PyTorch's profiler, Perfetto,
--trace-out, trace export), jaeger, otlp, python (spans that the platform's
Python agents save), and layer tables as jsonl or csv;
docs/traces.md lists the fields of each. Importing a file twice changes nothing,
and a trace that is imported in two formats counts once.

Examples:
  mlmodelscope dlbricks import profile.json --model resnet50 --system laptop
  mlmodelscope dlbricks import jaeger.json
  mlmodelscope dlbricks compose --from-store --system laptop`,
    )
    .action(async (files: string[], options: ImportOptions) => {
      const models = withSystem(await readTraces(files, options, host), options.system);
      if (models.every(({ layers, wholeMs }) => layers.length === 0 && wholeMs.length === 0)) {
        throw new PlatformError('usage', `${files.join(', ')}: the file holds no time of a layer or a whole model`);
      }
      const store = await host.openStore(options.store);
      await storeTraces(models, store, new Date());
      if (options.quiet === true) return;
      for (const { model, source, system, layers, wholeMs } of models) {
        const runs = layers.reduce((sum, layer) => sum + layer.runs, 0);
        const whole = wholeMs.length === 0 ? '' : `, ${counted(wholeMs.length, 'run')} of the whole model`;
        const count = new Set(layers.map(({ index }) => index)).size;
        host.print(
          `${oneLine(`${model ?? source}: ${counted(count, 'layer')}, ${counted(runs, 'time')}${whole}; system: ${system}`)}\n`,
        );
      }
    });
}
