import { NO_PROBE } from '../../../src/agent/jobs/core-probe.js';
import type { MeasureContext } from '../../../src/agent/jobs/measure-benchmark.js';
import type { PreparedRun, Predictor } from '../../../src/predictor/predictor.js';
import type { ProfiledRun } from '../../../src/predictor/profile.js';
import { SpanRecorder } from '../../../src/tracing/span-recorder.js';

/** A runtime on which each run does this and nothing else. It keeps this profile. */
export function fakePredictor(doing: Partial<PreparedRun>, profile: readonly ProfiledRun[] = []): Predictor {
  const run = { execute: () => Promise.resolve(), evaluate: () => Promise.resolve(new Map()), ...doing };
  const model = { prepare: () => run, close: () => Promise.resolve() };
  return {
    framework: { name: 'fake', version: '1.0.0' },
    inlineLimitBytes: 2 ** 20,
    mapsWeightFiles: false,
    open: () => Promise.resolve(model),
    openProfiled: () => Promise.resolve({ ...model, profile: () => Promise.resolve(profile) }),
    optimize: () => Promise.reject(new Error('nothing here optimizes')),
  };
}

/** A machine whose clock stands still. */
export function fakeContext(changes: Pick<MeasureContext, 'predictor'> & Partial<MeasureContext>): MeasureContext {
  return {
    temporaryFolder: 'never made',
    nowNs: () => 0n,
    settle: () => Promise.resolve(),
    peakMemoryBytes: () => 1,
    watchConditions: () => () => ({ wallMs: 1, cores: 1 }),
    coreProbe: NO_PROBE,
    recorder: new SpanRecorder('NO_TRACE'),
    onProgress: () => Promise.resolve(),
    ...changes,
  };
}
