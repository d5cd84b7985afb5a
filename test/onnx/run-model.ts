import { InferenceSession, Tensor } from '../../src/predictor/onnxruntime/library.js';

/** Outputs, by name, of one run of an ONNX file in memory in the real runtime. */
export async function runModel(
  bytes: Uint8Array,
  feeds: Readonly<Record<string, Tensor>> = {},
): Promise<Readonly<Record<string, number[]>>> {
  const session = await InferenceSession.create(bytes, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const results = await session.run(feeds);
  await session.release();
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, Array.from(data, Number)]));
}

export function float32(values: number[], dims = [1, values.length]): Tensor {
  return new Tensor('float32', Float32Array.from(values), dims);
}

export function bool(...values: boolean[]): Tensor {
  return new Tensor('bool', values, values.length === 1 ? [] : [values.length]);
}
