import {
  type Analysis,
  type AnalysisTable,
  groupedBy,
  ownValue,
  PlatformError,
  tableOfNames,
} from '../../src/plugin-api.js';
import { type Column, settingsSchema, type Trace, tracesFor, type XspSettings } from './traces.js';

export type Cell = string | number | null;

export type Row = Readonly<Record<string, Cell>>;

export function number(key: string, title: string, unit?: string): Column {
  return { key, title, align: 'right', ...(unit !== undefined && { unit }) };
}

export function text(key: string, title = key): Column {
  return { key, title, align: 'left' };
}

/** A column, and its cell for what a row is about. */
export type Field<Subject extends readonly unknown[]> = readonly [column: Column, cell: (...subject: Subject) => Cell];

function rowOf<Subject extends readonly unknown[]>(fields: readonly Field<Subject>[], ...subject: Subject): Row {
  return Object.fromEntries(fields.map(([{ key }, cell]) => [key, cell(...subject)]));
}

function columnsOf(fields: readonly Field<never>[]): readonly Column[] {
  return fields.map(([column]) => column);
}

/** Columns, and a row for each subject of a trace. */
export function rowsOf<Subject>(
  subjectsOf: (trace: Trace, all: readonly Trace[]) => readonly Subject[],
  ...fields: readonly Field<[subject: Subject, index: number]>[]
): Pick<Definition, 'columns' | 'rowsOf'> {
  const row = (subject: Subject, index: number): Row => rowOf(fields, subject, index);
  return { columns: columnsOf(fields), rowsOf: (trace, all) => subjectsOf(trace, all).map(row) };
}

/** Of the machine; an analysis may have some of them itself. */
const BASE: readonly Field<[trace: Trace, level: string]>[] = [
  [text('framework_name', 'framework'), ({ stored }) => stored.traced?.system.framework ?? null],
  [text('framework_version', 'version'), ({ stored }) => stored.traced?.system.frameworkVersion ?? null],
  [text('using_gpu', 'GPU'), () => 'no'],
  [number('batch_size', 'batch'), ({ batch }) => batch],
  [text('trace_level', 'level'), (_, level) => level],
  [text('hostname', 'host'), ({ stored }) => stored.traced?.host ?? null],
  [text('machine_architecture', 'architecture'), ({ stored }) => stored.traced?.system.architecture ?? null],
  [number('machine_memory', 'memory', 'bytes'), ({ stored }) => stored.traced?.system.memoryBytes ?? null],
  [text('cpu_name', 'processor'), ({ stored }) => stored.traced?.system.processor ?? null],
  [text('gpu_name', 'GPU name'), () => null],
  [text('gpu_driver', 'GPU driver'), () => null],
  [text('interconnect'), () => null],
  [number('theoretical_gflops', 'peak', 'GFLOP/s'), ({ peaks }) => peaks.get('float32')?.value ?? null],
  [number('memory_bandwidth', 'bandwidth', 'GB/s'), ({ peaks }) => peaks.get('memory')?.value ?? null],
  [number('ideal_arithmetic_intensity', 'ideal intensity', 'operations/byte'), ({ ridge }) => ridge ?? null],
  [text('created_at', 'traced at'), ({ stored }) => stored.importedAt],
];

const MAX_ROWS = 10_000;

export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly level: 'MODEL_TRACE' | 'FRAMEWORK_TRACE' | 'SYSTEM_LIBRARY_TRACE';
  readonly columns: readonly Column[];
  readonly rowsOf: (trace: Trace, all: readonly Trace[]) => readonly Row[];
  readonly notesOf?: (traces: readonly Trace[]) => readonly string[];
  readonly draw?: Analysis['draw'];
}

function emptyNotes(columns: readonly Column[], rows: readonly Row[]): string[] {
  const empty = columns.filter(({ key }) => rows.some((row) => ownValue(row, key) === null));
  const byReason = groupedBy(empty, ({ key }) => REASONS.get(key));
  return [...byReason].flatMap(([reason, of]) => {
    return reason === undefined ? [] : [`${of.map(({ title }) => title).join(', ')}: ${reason}`];
  });
}

const REASONS = tableOfNames({
  'allocated_bytes allocated_mb peak_allocated_bytes allocator_bytes_in_use requested_bytes_in_use':
    'no value where the profile does not state memory, as those of older runtimes',
  'host_temp_bytes device_temp_bytes host_persistent_bytes device_persistent_bytes': 'a processor has no such value',
  'flops arithmetic_intensity arithmetic_throughput':
    'no value where the operator is not counted, or a shape or an attribute is not in the trace',
  'memory_bound roof roof_percent':
    "no value without a count, and where the store has no peaks of the machine with this number of threads: 'mlmodelscope machine --threads N' measures them; for an imported trace, --setting machine=FINGERPRINT names a system",
  achieved_occupancy: 'no value with one thread, which has no pool, and for kernels that do not use the pool',
  'latency_ms throughput':
    'no value where the size of the batch is not known: --setting batch=N states that of imported traces',
  'duration model_duration_percent': 'no value where the trace has no time of the whole model',
  tracing_percent: 'no value where the trace has no runs without the profile',
});

export function xspAnalysis(definition: Definition): Analysis<XspSettings> {
  const { name, description, level, rowsOf, notesOf, draw } = definition;
  return {
    name,
    description,
    settings: settingsSchema,
    async run(settings, { store }): Promise<AnalysisTable> {
      const traces = await tracesFor(settings, store);
      const systems = new Set(traces.map(({ stored }) => stored.system));
      const own = new Set(definition.columns.map(({ key }) => key));
      const base = settings.base ? BASE.filter(([{ key }]) => !own.has(key)) : [];
      const columns = [
        text('model_name', 'model'),
        ...(systems.size > 1 ? [text('system')] : []),
        ...definition.columns,
        ...columnsOf(base),
      ];
      const rows = traces.flatMap((trace) =>
        rowsOf(trace, traces).map((row) => ({
          model_name: trace.stored.model,
          ...(systems.size > 1 && { system: trace.stored.system }),
          ...row,
          ...rowOf(base, trace, level),
        })),
      );
      if (rows.length > MAX_ROWS) {
        throw new PlatformError(
          'usage',
          `${rows.length} rows, of at most ${MAX_ROWS}; name a model with --setting model=NAME`,
        );
      }
      const notes = [...(notesOf?.(traces) ?? []), ...emptyNotes(columns, rows)];
      return { columns, rows, notes: notes.slice(0, 100) };
    },
    ...(draw && { draw }),
  };
}
