// Submissions that are small and make a lot of work.
import type { NodeProto } from '../../src/generated/onnx/onnx.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { fn, graph, graphAttribute, model, node, value } from '../onnx/protos.js';

const call = (name: string, input: string, output: string): NodeProto =>
  node(name, [input], [output], [], { domain: 'local' });

const OPSETS = [
  { domain: '', version: 17n },
  { domain: 'local', version: 1n },
];

const ENDS = { input: [value('x', [1, 4])], output: [value('y', [1, 4])] };

/** A model of about a kilobyte whose functions call the next one twice each: 2^levels nodes. */
export function doubling(levels: number): Uint8Array {
  const functions = Array.from({ length: levels }, (_, i) => {
    const next = (input: string, output: string): NodeProto =>
      i === levels - 1 ? node('Relu', [input], [output]) : call(`f${i + 1}`, input, output);
    return fn(`f${i}`, { input: ['a'], output: ['b'], node: [next('a', 'h'), next('h', 'b')] });
  });
  return model({ ...ENDS, node: [call('f0', 'x', 'y')] }, { opsetImport: OPSETS, functions });
}

/** Branches of If in branches of If, with this many nodes in the innermost. */
export function nested(levels: number, nodes: number): Uint8Array {
  const innermost = Array.from({ length: nodes }, (_, i) => node('Relu', [i === 0 ? 'x' : `v${i - 1}`], [`v${i}`]));
  let inner = graph({ node: innermost, output: [value(`v${nodes - 1}`)] });
  for (let level = 0; level < levels; level++) {
    const branches = [graphAttribute('then_branch', inner), graphAttribute('else_branch', graph({ ...EMPTY }))];
    inner = graph({ node: [node('If', ['c'], [`o${level}`], branches)], output: [value(`o${level}`)] });
  }
  const outermost = inner.node.map((one) => ({ ...one, output: ['y'] }));
  return model({ input: [...ENDS.input, value('c', [])], output: ENDS.output, node: outermost });
}

const EMPTY = { node: [node('Relu', ['x'], ['z'])], output: [value('z')] };

/** A model file whose graph consists of empty nodes, `bytes` bytes in total. */
export function emptyNodes(bytes: number): Uint8Array {
  const nodes = Buffer.alloc(bytes, Uint8Array.of(0x0a, 0x00));
  const length: number[] = [];
  for (let rest = nodes.length; rest > 0; rest = Math.floor(rest / 128))
    length.push((rest % 128) | (rest > 127 ? 128 : 0));
  // ir_version 8, then the graph.
  return Buffer.concat([Uint8Array.of(0x08, 0x08, 0x3a), Buffer.from(length), nodes]);
}

/**
 * An evaluation of `count` models with this content, and of one without content, so that no plugin gets the evaluation.
 */
export function refused(
  content: Uint8Array,
  count: number,
  changes: Readonly<Record<string, unknown>> = {},
): Submission {
  const { files, ...rest } = copies(content, count + 1, changes);
  return { ...rest, files: new Map<string, Uint8Array | undefined>(files).set(`m${count}.onnx`, undefined) };
}

/** An evaluation of `count` models with this content. */
export function copies(
  content: Uint8Array,
  count: number,
  changes: Readonly<Record<string, unknown>> = {},
): Submission {
  const names = Array.from({ length: count }, (_, i) => `m${i}.onnx`);
  const protocol = { warmup_runs: 1, runs: 3, min_runs: 1 };
  const manifest = { dlspec: 'evaluation/v1', name: 'bomb', version: '1.0.0', plugin: 'fake', models: names, protocol };
  const files = new Map([
    ['bomb.yml', Buffer.from(JSON.stringify({ ...manifest, ...changes }))],
    ...names.map((name) => [name, content] as const),
  ]);
  return { manifestPath: 'bomb.yml', files, graphs: new Map() };
}
