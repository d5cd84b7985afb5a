import { Client, credentials } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { connectAgent } from '../src/agent/client/agent-client.js';
import { startAgent } from '../src/agent/services/server.js';
import { weightlessBenchmark } from '../src/measurement/weightless.js';
import { bindDimensions } from '../src/onnx/layers/bind-dimensions.js';
import { buildZooModel } from '../src/zoo/zoo.js';
import { measureOne, type Setup } from '../test/agent/support/measure-one.js';

export interface HealthBenchmark {
  readonly model: string;
  readonly threads: number;
  readonly answers: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const INTERVAL_MS = 10;

const SETUP: Setup = {
  warmupRuns: 3,
  runs: 1_000_000,
  minRuns: 10,
  timeBudgetMs: 5000,
  occasion: 1,
  timeLimitMs: 60_000,
  memoryLimitBytes: 2 ** 33,
};

/** Latency of the agent's health check, asked every 10 ms while the agent measures. */
export async function benchmarkHealth(model = 'resnet18', threads = 1): Promise<HealthBenchmark> {
  const agent = await startAgent();
  const measuring = await connectAgent(agent.address);
  const asking = new Client(agent.address, credentials.createInsecure());
  const check = healthService['Check'];
  if (check === undefined) throw new Error('the health service has no Check');
  const { path, requestSerialize, responseDeserialize } = check;
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      asking.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: '' }, (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  try {
    const benchmark = weightlessBenchmark(bindDimensions(buildZooModel(model), new Map(), { batch: 1 }));
    const runOptions = { threads, executionProvider: 'cpu', optimizationLevel: 'all' } as const;
    let running = false;
    let done = false;
    const measurement = measureOne(measuring, benchmark, runOptions, SETUP, {
      onProgress: ({ phase }) => (running = phase === 'running'),
    }).finally(() => (done = true));
    const answersMs: number[] = [];
    for (; !done; await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))) {
      if (!running) continue;
      const start = performance.now();
      await ask();
      answersMs.push(performance.now() - start);
    }
    await measurement;
    const sorted = answersMs.sort((a, b) => a - b);
    const quantile = (q: number): number => sorted[Math.floor(q * (sorted.length - 1))] ?? NaN;
    return { model, threads, answers: sorted.length, medianMs: quantile(0.5), p99Ms: quantile(0.99) };
  } finally {
    asking.close();
    await measuring.close();
    await agent.close();
  }
}
