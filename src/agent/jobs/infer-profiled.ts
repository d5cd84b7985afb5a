import { mkdirSync, rmSync } from 'node:fs';
import type { RunOptions } from '../../measurement/system.js';
import type { ModelSource, Predictor } from '../../predictor/predictor.js';
import type { TensorValue } from '../../predictor/tensor-value.js';
import type { SpanRecorder } from '../../tracing/span-recorder.js';
import { runSpans } from './run-spans.js';
import { temporaryFolderPath } from './temporary-folder.js';

export interface Inferred {
  readonly outputs: ReadonlyMap<string, TensorValue>;
  readonly inferenceMs: number;
}

/**
 * A profile ends with its session, so every traced batch needs a new one. The times include neither it nor its warm-up.
 *
 * @returns undefined where the framework keeps no profile
 */
export async function inferProfiled(
  predictor: Predictor,
  source: ModelSource,
  runOptions: RunOptions,
  feeds: ReadonlyMap<string, TensorValue>,
  recorder: SpanRecorder,
): Promise<Inferred | undefined> {
  if (predictor.openProfiled === undefined) return undefined;
  const folder = temporaryFolderPath();
  try {
    mkdirSync(folder, { mode: 0o700 });
    const model = await predictor.openProfiled(source, runOptions, folder);
    try {
      const run = model.prepare(feeds);
      await run.execute();
      const startNs = process.hrtime.bigint();
      const outputs = await run.evaluate();
      const timed = { startNs, durationNs: Number(process.hrtime.bigint() - startNs) };
      const profile = (await model.profile()).slice(-1);
      for (const span of runSpans([timed], { level: 'FRAMEWORK_TRACE', profile })) recorder.add(span);
      return { outputs, inferenceMs: timed.durationNs / 1e6 };
    } finally {
      await model.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
