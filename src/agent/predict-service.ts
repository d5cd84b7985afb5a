import { type handleUnaryCall, status } from '@grpc/grpc-js';
import { randomUUID } from 'node:crypto';
import semver from 'semver';
import { PlatformError } from '../errors.js';
import {
  type Predictor,
  type PredictorCloseRequest,
  type PredictorCloseResponse,
  type PredictorOpenRequest,
  PredictService,
} from '../generated/mlmodelscope/org/dlframework/predictor.js';
import type { Benchmark } from '../measurement/benchmark.js';
import type { RunOptions } from '../measurement/system.js';
import type { Framework } from '../predictor/predictor.js';
import type { ActiveCalls } from '../rpc/active-calls.js';
import type { RpcServer } from '../rpc/server.js';
import { defaultMemoryLimitBytes, type Machine } from './describe-system.js';
import type { MeasureProcess } from './measure-process.js';
import type { MeasureRunner } from './measure-runner.js';
import { toWireDuration } from './wire.js';

/** Each holds a whole model in memory. */
const MAX_OPEN = 8;

const MAX_TEXT_LENGTH = 1024;

/** For loading a model, where the request sets no limit or a longer one. */
const OPEN_LIMIT_MS = 10 * 60_000;

/**
 * Finds a model by name. An empty version means any.
 *
 * @throws PlatformError `not_found`
 */
export type ResolveModel = (name: string, version: string) => Promise<Benchmark>;

export interface PredictServiceOptions {
  readonly machine: Machine;
  readonly framework: Framework;
  readonly runner: MeasureRunner;
  readonly calls: ActiveCalls;
  readonly resolveModel: ResolveModel;
}

/** `ONNX Runtime` and `onnxruntime` are one framework. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** @throws PlatformError `usage` for a request that makes no sense, `unsupported` for one that this agent cannot serve */
function checkOpenRequest(request: PredictorOpenRequest, framework: Framework): void {
  const { modelName, modelVersion, frameworkName, frameworkVersion, options } = request;
  if (modelName === '') throw new PlatformError('usage', 'model_name is empty');
  for (const text of [modelName, modelVersion, frameworkName, frameworkVersion]) {
    if (text.length > MAX_TEXT_LENGTH)
      throw new PlatformError('usage', `a name has more than ${MAX_TEXT_LENGTH} letters`);
  }
  const offered = `this agent has ${framework.name} ${framework.version}`;
  if (frameworkName !== '' && plain(frameworkName) !== plain(framework.name)) {
    throw new PlatformError('unsupported', `the request asks for the framework ${frameworkName}; ${offered}`);
  }
  const range = frameworkVersion === '' ? '*' : semver.validRange(frameworkVersion);
  if (range === null) {
    throw new PlatformError(
      'usage',
      `framework_version: ${frameworkVersion} is not a version constraint such as ^1.20`,
    );
  }
  if (!semver.satisfies(framework.version, range, { includePrerelease: true })) {
    throw new PlatformError('unsupported', `the request asks for ${framework.name} ${frameworkVersion}; ${offered}`);
  }
  const devices = Object.entries(options?.executionOptions?.deviceCount ?? {});
  const other = devices.find(([device, count]) => count > 0 && device.toUpperCase() !== 'CPU');
  if (other !== undefined) {
    throw new PlatformError(
      'unsupported',
      `the request asks for a ${other[0]}; this agent runs models on the processor`,
    );
  }
}

function timeLimitMsOf({ options }: PredictorOpenRequest): number {
  const asked = Number(options?.executionOptions?.timeoutInMs ?? 0n);
  return asked === 0 ? OPEN_LIMIT_MS : Math.min(asked, OPEN_LIMIT_MS);
}

/** Adds the platform's service that opens and closes models. Each has a process of its own. */
export function addPredictService(server: RpcServer, options: PredictServiceOptions): void {
  const { machine, framework, runner, calls, resolveModel } = options;
  const open = new Map<string, MeasureProcess>();
  let opening = 0;

  const openModel = async (request: PredictorOpenRequest, signal: AbortSignal): Promise<string> => {
    checkOpenRequest(request, framework);
    const timeLimitMs = timeLimitMsOf(request);
    const memoryLimitBytes = defaultMemoryLimitBytes(machine);
    const runOptions: RunOptions = { threads: machine.cores, executionProvider: 'cpu', optimizationLevel: 'all' };
    const benchmark = await resolveModel(request.modelName, request.modelVersion);
    const job = { kind: 'open', benchmark, runOptions, memoryLimitBytes } as const;
    const process = await runner.open(job, { timeLimitMs, memoryLimitBytes }, { signal });
    const id = randomUUID();
    open.set(id, process);
    void process.ended().then(() => open.delete(id));
    return id;
  };

  const answerOpen: handleUnaryCall<PredictorOpenRequest, Predictor> = (call, callback) => {
    if (open.size + opening >= MAX_OPEN) {
      const details = `${MAX_OPEN} models are open already; close one first`;
      callback({ code: status.RESOURCE_EXHAUSTED, details });
      return;
    }
    opening++;
    const startMs = performance.now();
    void calls.answer(call, callback, async (signal) => {
      try {
        const id = await openModel(call.request, signal);
        return { id, duration: toWireDuration(performance.now() - startMs) };
      } finally {
        opening--;
      }
    });
  };

  const answerClose: handleUnaryCall<PredictorCloseRequest, PredictorCloseResponse> = (call, callback) => {
    const startMs = performance.now();
    void calls.answer(call, callback, async () => {
      const id = call.request.predictor?.id ?? '';
      const process = open.get(id);
      if (process === undefined)
        throw new PlatformError('not_found', `no model is open under the id ${id.slice(0, 64)}`);
      open.delete(id);
      await process.kill();
      return { duration: toWireDuration(performance.now() - startMs) };
    });
  };

  server.addService(PredictService, { open: answerOpen, close: answerClose });
}
