import type { RunOptions } from '../../measurement/system.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { idleNode } from '../../composite/composite.js';
import { int } from '../../onnx/model/make-attributes.js';
import { encodeModelToBytes } from '../../onnx/write/write-model.js';
import type { DeclaredType, Node } from '../../onnx/model/model.js';
import type { MeasureContext } from './measure-benchmark.js';

/** Idle nodes of two graphs; so many more in one that their time shows beside the call's. */
const [MANY, FEW] = [200, 2];

const RUNS = 60;

/** Warm-up runs: in the first ones the runtime learns how much memory it needs. */
const DROPPED = 10;

/** Idle nodes of a composite, one right after another, and nothing else. */
function idleNodes(count: number, inputs: number): Uint8Array {
  const names = Array.from({ length: count }, (_, index) => `idle${index}`);
  const join: Node = {
    name: 'joined',
    opType: 'Concat',
    domain: '',
    inputs: names,
    outputs: ['joined'],
    attributes: [int('axis', 0)],
  };
  const types = new Map<string, DeclaredType>([
    ['x', { elementType: 'int64', dims: [1] }],
    ['joined', { elementType: 'int64', dims: [count * inputs] }],
  ]);
  const nodes = [...names.map((name) => idleNode(name, 'x', inputs)), join];
  const graph = { name: 'idle', nodes, inputs: ['x'], outputs: ['joined'], initializers: new Map(), types };
  return encodeModelToBytes({ source: 'idle nodes', irVersion: 10, opsets: new Map([['', 14]]), graph });
}

async function runMsOf(
  graph: Uint8Array,
  runOptions: RunOptions,
  { predictor, nowNs }: MeasureContext,
): Promise<number> {
  const model = await predictor.open({ kind: 'bytes', bytes: graph }, runOptions);
  try {
    const run = model.prepare(new Map([['x', { elementType: 'int64', dims: [1], bytes: new Uint8Array(8) }]]));
    const times: number[] = [];
    for (let runs = 0; runs < RUNS; runs++) {
      const startNs = nowNs();
      await run.execute();
      if (runs >= DROPPED) times.push(Number(nowNs() - startNs) / 1e6);
    }
    return trimmedMean(times);
  } finally {
    await model.close();
  }
}

/** Cached per process: it depends little on the run options' threads and level, and much on the processor. */
const known = new Map<string, number>();

/**
 * The time in which the runtime executes an idle node of a composite, without a profile. A kernel's own time by the
 * profile does not include this overhead. Milliseconds, tens of microseconds at most.
 *
 * @param inputs of the node
 */
export async function unwatchedNodeMs(
  inputs: number,
  runOptions: RunOptions,
  context: MeasureContext,
): Promise<number> {
  const key = JSON.stringify([inputs, runOptions]);
  const found = known.get(key);
  if (found !== undefined) return found;
  const many = await runMsOf(idleNodes(MANY, inputs), runOptions, context);
  const few = await runMsOf(idleNodes(FEW, inputs), runOptions, context);
  const ms = Math.max(0, many - few) / (MANY - FEW);
  known.set(key, ms);
  return ms;
}
