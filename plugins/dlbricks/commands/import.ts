import { type Command, Option } from 'commander';
import {
  type CommandHost,
  PlatformError,
  readTrace,
  TRACE_FORMATS,
  type TracedModel,
  type TraceFormat,
  oneLine,
} from '../../../src/plugin-api.js';
import { storeTraces } from '../traces/stored-traces.js';
import { addStoreOption } from './options.js';

/** What a user says about the traces that a command reads. */
export interface TraceReadingOptions {
  readonly format?: TraceFormat;
  readonly system?: string;
  readonly model?: string;
  readonly quiet?: boolean;
}

export function formatOption(): Option {
  return new Option('--format <format>', 'format of the traces (default: told from how they begin)').choices(
    TRACE_FORMATS,
  );
}

/** Reads traces one after another, with a bar. */
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
      models.push(...(await readTrace(file, { ...options, signal: host.signal, onProgress })));
    }
  } finally {
    progress.stop();
  }
  return models;
}

function notTold(model: TracedModel): PlatformError {
  return new PlatformError(
    'usage',
    `${model.source}: doesn't say which system it was taken on; name it with --system NAME, one name for measurements that may be mixed`,
  );
}

/**
 * Gives every model a system: its own, or the one that the user names for those without.
 *
 * @throws PlatformError `usage` where nobody says, or the trace says otherwise
 */
export function withSystem(
  models: readonly TracedModel[],
  system: string | undefined,
): readonly (TracedModel & { readonly system: string })[] {
  return models.map((model) => {
    if (model.system !== undefined && system !== undefined && model.system !== system) {
      throw new PlatformError(
        'usage',
        `${model.source}: says that it was taken on ${JSON.stringify(model.system)}, and --system says ${JSON.stringify(system)}; leave --system out, or split the file`,
      );
    }
    const known = model.system ?? system;
    if (known === undefined) throw notTold(model);
    return { ...model, system: known };
  });
}

interface ImportOptions extends TraceReadingOptions {
  readonly store?: string;
}

/** `dlbricks import FILE...` */
export function registerImport(parent: Command, host: CommandHost): void {
  const command = parent
    .command('import')
    .description('Keep the layer times of traces that others took, for compose --from-store')
    .argument('<file...>', 'trace of ONNX Runtime, PyTorch, Jaeger or OTLP, or a layer table')
    .addOption(formatOption())
    .option('--system <name>', 'what the traces were taken on, where they do not say it themselves')
    .option('--model <name>', 'model that the traces are of (default: as they say, else the name of the file)')
    .option('--quiet', 'errors and warnings only');
  addStoreOption(command)
    .addHelpText(
      'after',
      `
Formats: onnxruntime (a profile), chrome (PyTorch's profiler, Perfetto,
--trace-out), jaeger, otlp, and layer tables as jsonl or csv; docs/traces.md
says what is read of each. Importing the same again changes nothing.

Examples:
  mlmodelscope dlbricks import profile.json --model resnet50 --system laptop
  mlmodelscope dlbricks import jaeger.json
  mlmodelscope dlbricks compose --from-store --system laptop`,
    )
    .action(async (files: string[], options: ImportOptions) => {
      const models = withSystem(await readTraces(files, options, host), options.system);
      if (models.every(({ layers, wholeMs }) => layers.length === 0 && wholeMs.length === 0)) {
        throw new PlatformError('usage', `${files.join(', ')}: no layer and no whole model's time is in there`);
      }
      const store = await host.openStore(options.store);
      await storeTraces(models, store, new Date());
      if (options.quiet === true) return;
      for (const { model, source, system, layers, wholeMs } of models) {
        const runs = layers.reduce((sum, layer) => sum + layer.runs, 0);
        const whole = wholeMs.length === 0 ? '' : `, ${wholeMs.length} runs of the whole model`;
        const places = new Set(layers.map(({ index }) => index)).size;
        host.print(`${oneLine(`${model ?? source}: ${places} layers, ${runs} times${whole}; system: ${system}`)}\n`);
      }
    });
}
