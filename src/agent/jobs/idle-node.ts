import { minOf } from '../../base/long-lists.js';
import type { RunOptions } from '../../measurement/system.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { IDLE_INPUTS, idleNode } from '../../composite/composite.js';
import { int } from '../../onnx/model/make-attributes.js';
import { encodeModelToBytes } from '../../onnx/write/write-model.js';
import type { DeclaredType } from '../../onnx/model/model.js';
import { standardNode } from '../../onnx/model/standard-node.js';
import type { MeasureContext } from './measure-benchmark.js';
import type { Unwatched } from './profile-cost.js';

/** Idle nodes of two graphs. Their difference is large enough to show beside the time of the call. */
const MANY = 200;
const FEW = 2;

const RUNS = 60;

const DROPPED = 10;

type Machine = Pick<MeasureContext, 'predictor' | 'nowNs'>;

/** A graph of idle nodes as in a composite, one right after another, and a node that joins their outputs. */
function idleNodes(count: number, inputs: number): Uint8Array {
  const names = Array.from({ length: count }, (_, index) => `idle${index}`);
  const join = standardNode('joined', 'Concat', names, ['joined'], [int('axis', 0)]);
  const types = new Map<string, DeclaredType>([
    ['x', { elementType: 'int64', dims: [1] }],
    ['joined', { elementType: 'int64', dims: [count * inputs] }],
  ]);
  const nodes = [...names.map((name) => idleNode(name, 'x', inputs)), join];
  const graph = { name: 'idle', nodes, inputs: ['x'], outputs: ['joined'], initializers: new Map(), types };
  return encodeModelToBytes({ source: 'idle nodes', irVersion: 10, opsets: new Map([['', 14]]), graph });
}

async function measureRunMs(graph: Uint8Array, runOptions: RunOptions, { predictor, nowNs }: Machine): Promise<number> {
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

/** Times by run options, cached for the life of the process. They depend much on the processor. */
const known = new Map<string, Unwatched>();

/** Times of an idle node of a composite and of a call: the profile's times of kernels include neither. */
export async function unwatchedTimes(runOptions: RunOptions, context: Machine): Promise<Unwatched> {
  const key = JSON.stringify(runOptions);
  const found = known.get(key);
  if (found !== undefined) return found;
  const nodeMs = new Map<number, number>();
  const calls: number[] = [];
  for (const inputs of IDLE_INPUTS) {
    const many = await measureRunMs(idleNodes(MANY, inputs), runOptions, context);
    const few = await measureRunMs(idleNodes(FEW, inputs), runOptions, context);
    const ms = Math.max(0, many - few) / (MANY - FEW);
    nodeMs.set(inputs, ms);
    calls.push(Math.max(0, few - FEW * ms));
  }
  const unwatched = { nodeMs, callMs: minOf(calls) };
  known.set(key, unwatched);
  return unwatched;
}
