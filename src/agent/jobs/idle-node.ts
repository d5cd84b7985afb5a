import type { RunOptions } from '../../measurement/system.js';
import { trimmedMean } from '../../measurement/trimmed-mean.js';
import { encodeModelToBytes } from '../../onnx/write/write-model.js';
import type { Node } from '../../onnx/model/model.js';
import type { MeasureContext } from './measure-benchmark.js';

/** Nodes of the longer of two graphs; enough that their time shows beside the call's. */
const NODES = 200;

const RUNS = 60;

/** Warm-up runs: in the first ones the runtime learns how much memory it needs. */
const DROPPED = 10;

/** A chain of nodes on one number. */
function chainOf(length: number): Uint8Array {
  const nodes = Array.from({ length }, (_, index): Node => {
    const ends = { inputs: [`x${index}`], outputs: [`x${index + 1}`] };
    return { name: `idle${index}`, opType: 'Relu', domain: '', attributes: [], ...ends };
  });
  const type = { elementType: 'float32', dims: [1] } as const;
  const types = new Map([`x0`, `x${length}`].map((name) => [name, type]));
  const graph = { name: 'chain', nodes, inputs: ['x0'], outputs: [`x${length}`], initializers: new Map(), types };
  return encodeModelToBytes({ source: 'chain', irVersion: 10, opsets: new Map([['', 14]]), graph });
}

async function runMsOf(length: number, runOptions: RunOptions, { predictor, nowNs }: MeasureContext): Promise<number> {
  const model = await predictor.open({ kind: 'bytes', bytes: chainOf(length) }, runOptions);
  try {
    const run = model.prepare(new Map([['x0', { elementType: 'float32', dims: [1], bytes: new Uint8Array(4) }]]));
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
 * The time in which the runtime executes a node with almost no work, without a profile. A kernel's own time by the
 * profile does not include this overhead. Milliseconds, tens of microseconds at most.
 */
export async function unwatchedNodeMs(runOptions: RunOptions, context: MeasureContext): Promise<number> {
  const key = JSON.stringify(runOptions);
  const found = known.get(key);
  if (found !== undefined) return found;
  const [long, short] = [await runMsOf(NODES, runOptions, context), await runMsOf(1, runOptions, context)];
  const ms = Math.max(0, long - short) / (NODES - 1);
  known.set(key, ms);
  return ms;
}
