import { randomUUID } from 'node:crypto';
import { PlatformError } from '../../base/errors.js';
import type { Limits } from '../../measurement/protocol.js';
import type { RunOptions } from '../../measurement/system.js';
import type { PredictionModel } from '../../registry/prediction-model.js';
import { noOpenModel } from '../no-open-model.js';
import { endedAs } from '../worker/job-end.js';
import type { WorkerProcess } from '../worker/worker-process.js';
import type { WorkerRunner } from '../worker/worker-runner.js';
import type { PredictOptions } from './options.js';
import type { PredictBatch, Predicted } from '../jobs/predict-session.js';

/** Most open models. Each holds a whole model in memory. */
const MAX_OPEN = 8;

/** Most calls that predict at a time, each with a batch of pictures and the features found so far. */
const MAX_CALLS = 16;

/** A model that was not used for this long may be closed to open another one. */
const IDLE_MS = 15 * 60_000;

export interface OpenModelRequest {
  readonly model: PredictionModel;
  readonly options: PredictOptions;
  readonly persist: boolean;
}

interface OpenModel extends OpenModelRequest {
  process: WorkerProcess;
  readonly calls: Set<Promise<unknown>>;
  /** Set while it is opened again. */
  reset: Promise<void> | undefined;
  lastUsedMs: number;
}

export interface ModelInUse extends OpenModelRequest {
  /** Waits for its turn. @throws PlatformError as PredictSession; an error by which the process was ended closes it */
  predict(batch: PredictBatch, signal: AbortSignal): Promise<Predicted>;
}

export interface OpenModelsOptions {
  readonly runner: WorkerRunner;
  readonly runOptions: RunOptions;
  readonly limits: Limits;
  readonly nowMs?: () => number;
}

export class OpenModels {
  readonly #open = new Map<string, OpenModel>();
  readonly #options: OpenModelsOptions;
  readonly #nowMs: () => number;
  #opening = 0;

  constructor(options: OpenModelsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /**
   * @returns its id @throws PlatformError `exhausted` where too many are open, and where it cannot be loaded or opened
   */
  async open(load: () => Promise<OpenModelRequest>, signal: AbortSignal): Promise<string> {
    await this.#makeRoom();
    this.#opening++;
    try {
      const request = await load();
      const process = await this.#start(request.model, signal);
      const id = randomUUID();
      this.#open.set(id, { ...request, process, calls: new Set(), reset: undefined, lastUsedMs: this.#nowMs() });
      this.#forgetWith(id, process);
      return id;
    } finally {
      this.#opening--;
    }
  }

  /** @throws PlatformError `not_found`, `exhausted` where too many calls use models already, and what `work` throws */
  async use<T>(id: string, work: (model: ModelInUse) => Promise<T>): Promise<T> {
    await this.#get(id).reset;
    const opened = this.#get(id);
    const callCount = [...this.#open.values()].reduce((sum, { calls }) => sum + calls.size, 0);
    if (callCount >= MAX_CALLS) {
      throw new PlatformError('exhausted', `${MAX_CALLS} calls predict already; try again when one of them is done`);
    }
    const { model, options, persist } = opened;
    const predict: ModelInUse['predict'] = (batch, signal) => this.#predict(opened, batch, signal);
    const call = work({ model, options, persist, predict });
    opened.calls.add(call);
    try {
      return await call;
    } finally {
      opened.calls.delete(call);
      opened.lastUsedMs = this.#nowMs();
    }
  }

  /** After the calls that use it; `force` fails these calls instead. @throws PlatformError `not_found` */
  async close(id: string, force: boolean): Promise<void> {
    const opened = this.#get(id);
    this.#open.delete(id);
    if (!force) await Promise.allSettled([...opened.calls, opened.reset]);
    await opened.process.kill();
  }

  /** Frees a model's caches by opening it again, after the calls that use it. @throws PlatformError; closed then */
  async reset(id: string, signal: AbortSignal): Promise<void> {
    const opened = this.#get(id);
    const restart = this.#restart(id, opened, opened.reset, signal);
    // Waiting calls check by themselves whether the model is open.
    const settled = restart.catch(() => {});
    opened.reset = settled;
    try {
      await restart;
    } finally {
      if (opened.reset === settled) opened.reset = undefined;
    }
  }

  async #restart(id: string, opened: OpenModel, before: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
    await Promise.allSettled([...opened.calls, before]);
    await opened.process.kill();
    try {
      const process = await this.#start(opened.model, signal);
      opened.process = process;
      this.#forgetWith(id, process);
      // The model was closed meanwhile.
      if (this.#open.get(id) !== opened) await process.kill();
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }

  #get(id: string): OpenModel {
    const opened = this.#open.get(id);
    if (opened !== undefined && (opened.process.isAlive || opened.reset !== undefined)) return opened;
    throw noOpenModel(id);
  }

  #forgetWith(id: string, process: WorkerProcess): void {
    void process.ended().then(() => {
      const opened = this.#open.get(id);
      if (opened?.process === process && opened.reset === undefined) this.#open.delete(id);
    });
  }

  async #makeRoom(): Promise<void> {
    if (this.#open.size + this.#opening < MAX_OPEN) return;
    const before = this.#nowMs() - IDLE_MS;
    const idle = [...this.#open].filter(([, { persist, calls, reset, lastUsedMs }]) => {
      return !persist && calls.size === 0 && reset === undefined && lastUsedMs <= before;
    });
    const [longest] = idle.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    if (longest === undefined) {
      throw new PlatformError('exhausted', `${MAX_OPEN} models are open already; close one first`);
    }
    await this.close(longest[0], true);
  }

  #start(model: PredictionModel, signal: AbortSignal): Promise<WorkerProcess> {
    const { runner, runOptions, limits } = this.#options;
    return runner.open({ kind: 'open', model, runOptions }, limits, { signal });
  }

  async #predict({ process }: OpenModel, batch: PredictBatch, signal: AbortSignal): Promise<Predicted> {
    const { runner, limits } = this.#options;
    try {
      const end = await runner.runIn(process, { kind: 'predict', batch }, limits, { signal });
      return endedAs(end, 'predicted').predicted;
    } catch (error) {
      if (process.isAlive || !(error instanceof PlatformError)) throw error;
      const { code, message } = error;
      throw new PlatformError(code, `${message}; the model is closed now, open it again`, { cause: error });
    }
  }
}
