import { z } from 'zod';
import { counted } from '../base/counted.js';
import { messageOf } from '../base/errors.js';
import { schemaProblems } from '../base/schema-problems.js';
import { parseBoundedJson } from '../base/bounded-json.js';
import { MAX_INDEX, MAX_LAYERS, MAX_WORK } from './layer-limits.js';
import { parseShapes } from './shapes.js';
import { forEachLine } from './table-lines.js';
import { quoted } from '../base/quoted.js';
import { traceError } from './trace-error.js';
import type { Emit, TracedLayer, TraceReader } from './trace-record.js';

const MAX_NAME_LENGTH = 4096;
const MAX_RUNS = 100_000;

const duration = z.number().nonnegative();
const durations = z.array(duration).max(MAX_RUNS);
const name = z.string().max(MAX_NAME_LENGTH);
const index = z.int().nonnegative().max(MAX_INDEX);
const shapes = z.union([z.array(z.array(z.int().nonnegative()).max(32)).max(1024), z.string().max(MAX_NAME_LENGTH)]);

/** A row without `index` is the whole model; one without durations describes its layer. Missing fields are unknown. */
const rowSchema = z.strictObject({
  model: name.min(1),
  system: name.min(1).optional(),
  index: index.optional(),
  /** Index of the last layer, where a sequence of layers was timed as one. */
  last: index.optional(),
  /** Longest sequence allowed when the model was cut for this row. */
  granularity: z.int().min(1).optional(),
  name: name.optional(),
  op: name.min(1).optional(),
  signature: name.min(1).optional(),
  attributes: z.record(z.string(), z.unknown()).optional(),
  input_shapes: shapes.optional(),
  output_shapes: shapes.optional(),
  element_type: name.min(1).optional(),
  operations: z.number().nonnegative().max(MAX_WORK).optional(),
  bytes: z.number().nonnegative().max(MAX_WORK).optional(),
  after: z.array(index).max(4096).optional(),
  duration_ms: duration.optional(),
  duration_us: duration.optional(),
  /** The durations of single runs; where they are present, `duration_*` is ignored. */
  durations_ms: durations.optional(),
  durations_us: durations.optional(),
  /** How many runs `duration_*` is the mean of. It is ignored: a row is one sample of its layer. */
  runs: z.int().min(1).optional(),
  /** For a whole model: whether its layers were traced meanwhile. */
  layers_traced: z.boolean().optional(),
});

type Row = z.infer<typeof rowSchema>;

function readDurations(row: Row): readonly number[] {
  const several = row.durations_ms ?? row.durations_us?.map((us) => us * 1e-3);
  if (several !== undefined) return several;
  if (row.duration_ms !== undefined) return [row.duration_ms];
  return row.duration_us === undefined ? [] : [row.duration_us * 1e-3];
}

function buildLayer(row: Row, index: number): TracedLayer {
  const { last, granularity, signature, attributes, operations, bytes, after, element_type: elementType } = row;
  const tensors = (given: z.infer<typeof shapes> | undefined): TracedLayer['inputs'] => {
    const dims = typeof given === 'string' ? parseShapes(given) : given;
    return dims?.map((sizes) => ({ elementType, dims: sizes }));
  };
  return {
    index: String(index),
    last,
    granularity,
    name: row.name ?? '',
    operator: row.op ?? '',
    signature,
    attributes,
    inputs: tensors(row.input_shapes),
    outputs: tensors(row.output_shapes),
    operations,
    bytes,
    after,
  };
}

/** Fields that only the row of a layer or sequence has. */
const OF_LAYERS = [
  'op',
  'last',
  'granularity',
  'name',
  'signature',
  'attributes',
  'input_shapes',
  'output_shapes',
  'element_type',
  'operations',
  'bytes',
  'after',
] as const;

function problemIn(row: Row): string | undefined {
  const { index, last, op } = row;
  if (index === undefined) {
    const field = OF_LAYERS.find((key) => row[key] !== undefined);
    if (field === undefined) return undefined;
    return `index: expected the index of this layer; the row of a whole model has no ${field}`;
  }
  if (last === undefined && op === undefined) return 'op: expected the operator of this layer';
  if (last !== undefined && last < index) return `last: ${last} is before index ${index}`;
  if (last !== undefined && last - index >= MAX_LAYERS) {
    return `last: expected at most ${MAX_LAYERS} layers, found ${last - index + 1}`;
  }
  for (const shape of [row.input_shapes, row.output_shapes]) {
    if (typeof shape === 'string' && parseShapes(shape) === undefined) {
      return `expected shapes such as 1x3x224x224;64x3x7x7, found ${quoted(shape)}`;
    }
  }
  return undefined;
}

function emitRow(content: unknown, source: string, line: number, emit: Emit): void {
  const place = `line ${line}`;
  const parsed = rowSchema.safeParse(content);
  if (!parsed.success) {
    throw traceError(source, place, schemaProblems(parsed.error, { whole: 'row' }).join('; '));
  }
  const row = parsed.data;
  const problem = problemIn(row);
  if (problem !== undefined) throw traceError(source, place, problem);
  const { model, system, index } = row;
  const belonging = { trace: model, process: system };
  emit({ kind: 'model', trace: model, model }, place);
  if (system !== undefined) emit({ kind: 'system', process: system, system }, place);
  const durationsMs = readDurations(row);
  if (index !== undefined) emit({ kind: 'layer', ...belonging, layer: buildLayer(row, index), durationsMs }, place);
  else emit({ kind: 'whole', ...belonging, layersTraced: row.layers_traced ?? false, durationsMs }, place);
}

export const layerTableLines: TraceReader = {
  onePerPosition: true,
  detects(head) {
    const [first = ''] = head.trimStart().split('\n', 1);
    return first.startsWith('{') && /"model"\s*:/.test(first) && /"(index|durations?_[mu]s)"\s*:/.test(first);
  },
  read(chunks, source, emit) {
    return forEachLine(chunks, source, (text, line) => {
      let content: unknown;
      try {
        content = parseBoundedJson(text);
      } catch (error) {
        throw traceError(source, `line ${line}`, `not JSON: ${messageOf(error).slice(0, 200)}`, error);
      }
      emitRow(content, source, line, emit);
    });
  },
};

const NUMBERS = new Set(['index', 'last', 'granularity', 'operations', 'bytes', 'duration_ms', 'duration_us', 'runs']);
const LISTS = new Set(['after', 'durations_ms', 'durations_us']);

function splitFields(text: string): string[] {
  if (!text.includes('"')) return text.split(',');
  const fields: string[] = [];
  for (const [, quotedField, plain = ''] of text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    fields.push(quotedField?.replaceAll('""', '"') ?? plain);
  }
  return fields;
}

/** A field as a JSON value. Other text stays text, which the schema refuses. */
function parseValue(column: string, field: string): unknown {
  if (NUMBERS.has(column)) return Number(field);
  if (LISTS.has(column)) return field.split(/[;\s]+/).map(Number);
  if (column === 'layers_traced') return field === 'true' ? true : field === 'false' ? false : field;
  if (column !== 'attributes') return field;
  try {
    return parseBoundedJson(field);
  } catch {
    return field;
  }
}

/** The same table as CSV: a header, shapes as 1x3x224x224;64x3x7x7, attributes as JSON; an empty field is absent. */
export const layerTableCsv: TraceReader = {
  onePerPosition: true,
  detects(head) {
    const columns = splitFields(head.trimStart().split(/\r?\n/, 1)[0] ?? '');
    return (
      columns.includes('model') && columns.some((column) => column === 'index' || /^durations?_[mu]s$/.test(column))
    );
  },
  read(chunks, source, emit) {
    let columns: readonly string[] | undefined;
    const onRecord = (text: string, line: number): void => {
      const fields = splitFields(text);
      if (columns === undefined) {
        columns = fields.map((field) => field.trim());
        return;
      }
      if (fields.length !== columns.length) {
        throw traceError(
          source,
          `line ${line}`,
          `expected ${counted(columns.length, 'field')}, found ${fields.length}`,
        );
      }
      const entries = columns.flatMap((column, i): [string, unknown][] => {
        const field = fields[i] ?? '';
        return field === '' ? [] : [[column, parseValue(column, field)]];
      });
      emitRow(Object.fromEntries(entries), source, line, emit);
    };
    return forEachLine(chunks, source, onRecord, { isQuoted: true });
  },
};
