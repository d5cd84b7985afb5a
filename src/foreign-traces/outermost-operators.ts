import { setImmediate } from 'node:timers/promises';
import { Distinct } from './distinct.js';
import { elementTypeOfProfile } from '../onnx/model/element-type.js';
import { quoted } from '../base/quoted.js';
import { END, traceError } from './trace-error.js';
import type { Emit, TracedLayer, TracedTensor } from './trace-record.js';

/** Events that are processed before timers and signals get a chance to run. */
const AT_ONCE = 4096;

/** Most operator events that are kept until the file's end; 40 bytes each. */
const MAX_EVENTS = 4_000_000;

interface OperatorCall {
  readonly trace: string;
  readonly thread: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly startUs: number;
  readonly durationUs: number;
  readonly place: string;
}

interface Thread {
  readonly trace: string;
  readonly startUs: number[];
  readonly durationUs: number[];
  readonly operator: number[];
}

/** A range that the user named, around one run of the model. */
const RANGE = -1;

/** Inputs that are tensors; scalars and lists have empty dimensions and no tensor type. */
function readTensors(args: OperatorCall['args']): readonly TracedTensor[] | undefined {
  const dims = args['Input Dims'];
  const types = args['Input type'];
  if (!Array.isArray(dims)) return undefined;
  return dims.flatMap((entry: unknown, i): TracedTensor[] => {
    if (!Array.isArray(entry) || entry.length === 0 || !entry.every((dim) => Number.isInteger(dim) && dim >= 0))
      return [];
    const type: unknown = Array.isArray(types) ? types[i] : undefined;
    const elementType = typeof type === 'string' ? elementTypeOfProfile(type, 'pytorch') : undefined;
    return [{ elementType, dims: entry as number[] }];
  });
}

function readAttributes(args: OperatorCall['args']): TracedLayer['attributes'] {
  const values = args['Concrete Inputs'];
  if (!Array.isArray(values)) return undefined;
  return Object.fromEntries(values.flatMap((value: unknown, i) => (value === '' ? [] : [[`input ${i}`, value]])));
}

/** The operators that the model itself called. Events come in any order, so these are known only at the file's end. */
export class OutermostOperators {
  private readonly threads = new Map<string, Thread>();
  private readonly operators = new Distinct<Omit<TracedLayer, 'index'>>();
  private count = 0;

  constructor(private readonly source: string) {}

  add({ trace, thread, name, args, startUs, durationUs, place }: OperatorCall): void {
    if (++this.count > MAX_EVENTS)
      throw traceError(this.source, place, `more than ${MAX_EVENTS} operators; split the file`);
    if (name === '') throw traceError(this.source, place, `name: expected an operator, found ${quoted(name)}`);
    const operator = { name: '', operator: name, inputs: readTensors(args), attributes: readAttributes(args) };
    const id = this.operators.idOf(operator, (most) => {
      return traceError(this.source, place, `more than ${most} different operators; split the file`);
    });
    this.note(trace, thread, startUs, durationUs, id);
  }

  addRange({ trace, thread, startUs, durationUs }: Omit<OperatorCall, 'name' | 'args' | 'place'>): void {
    this.note(trace, thread, startUs, durationUs, RANGE);
  }

  private note(trace: string, thread: string, startUs: number, durationUs: number, operator: number): void {
    const calls = this.threads.get(thread) ?? { trace, startUs: [], durationUs: [], operator: [] };
    this.threads.set(thread, calls);
    calls.startUs.push(startUs);
    calls.durationUs.push(durationUs);
    calls.operator.push(operator);
  }

  /** The outermost calls of each thread, in the order of their start; with named ranges, those in one, from 0 in each. */
  async finish(emit: Emit): Promise<void> {
    for (const { trace, startUs, durationUs, operator } of this.threads.values()) {
      const at = (column: readonly number[], i: number): number => column[i] ?? 0;
      const order = startUs.map((_start, i) => i);
      order.sort((a, b) => at(startUs, a) - at(startUs, b) || at(durationUs, b) - at(durationUs, a));
      const hasRanges = operator.includes(RANGE);
      let rangeEndUs = hasRanges ? -Infinity : Infinity;
      let endUs = -Infinity;
      let position = 0;
      for (const [n, i] of order.entries()) {
        if (n % AT_ONCE === AT_ONCE - 1) await setImmediate();
        const start = at(startUs, i);
        const durationsMs = [at(durationUs, i) / 1000];
        if (at(operator, i) === RANGE) {
          if (start < rangeEndUs) continue;
          rangeEndUs = start + at(durationUs, i);
          position = 0;
          emit({ kind: 'whole', trace, process: trace, layersTraced: true, durationsMs }, END);
          continue;
        }
        if (start < endUs || start >= rangeEndUs) continue;
        endUs = start + at(durationUs, i);
        const found = this.operators.all[at(operator, i)];
        if (found === undefined) continue;
        emit(
          { kind: 'layer', trace, process: trace, layer: { index: String(position++), ...found }, durationsMs },
          END,
        );
      }
    }
  }
}
