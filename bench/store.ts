import { MongoClient } from 'mongodb';
import type { Measurement } from '../src/measurement/measurement.js';
import { openEmbeddedStore } from '../src/store/embedded/open.js';
import { openMongoStore } from '../src/store/mongodb/open.js';
import type { ResultStore } from '../src/store/result-store.js';
import { withTemporaryFolder } from '../test/onnx/temporary-folder.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from '../test/store/sample-measurement.js';

export interface StoreBenchmark {
  readonly backend: string;
  /** Measurements in the store before the benchmark. */
  readonly measurements: number;
  /** Finding the measurements of a plan. */
  readonly findSeconds: number;
  readonly found: number;
  /** Storing as many new ones at once. */
  readonly putSeconds: number;
}

const PLAN_BRICKS = 10_000;
const NEW = 1_000;
const SAMPLES = 50;

/** Concurrent puts while a store is filled. */
const FILLING = 5_000;

/** Measurements for a server that does not use its indexes; filling it with more takes too long. */
const FEW = 10_000;

/**
 * Benchmarks a store on this machine and, where MONGODB_URI is set, one on that server, each with that many
 * measurements.
 */
export async function benchmarkStores(measurements = 1_000_000): Promise<readonly StoreBenchmark[]> {
  const results = [
    await withTemporaryFolder(async (folder) => {
      return benchmarkStore('embedded', await openEmbeddedStore(folder, {}), measurements);
    }),
  ];
  const uri = process.env['MONGODB_URI'];
  if (uri !== undefined) results.push(await benchmarkServer(uri, measurements));
  return results;
}

async function benchmarkServer(server: string, measurements: number): Promise<StoreBenchmark> {
  const uri = new URL(server);
  uri.pathname = '/mlmodelscope_bench';
  const client = await MongoClient.connect(uri.href);
  try {
    const { ferretdbVersion, version } = await client.db().command({ buildInfo: 1 });
    const few = ferretdbVersion === undefined ? measurements : Math.min(measurements, FEW);
    const name = ferretdbVersion === undefined ? `MongoDB ${String(version)}` : `FerretDB ${String(ferretdbVersion)}`;
    return await benchmarkStore(name, await openMongoStore(uri.href, { onWarning: () => undefined }), few);
  } finally {
    await client.db().dropDatabase();
    await client.close();
  }
}

async function benchmarkStore(backend: string, store: ResultStore, measurements: number): Promise<StoreBenchmark> {
  try {
    for (let first = 0; first < measurements; first += FILLING) {
      await putAll(store, first, Math.min(FILLING, measurements - first));
    }
    // From all over the store.
    const bricks = Math.min(PLAN_BRICKS, measurements);
    const step = Math.floor(measurements / bricks);
    const signatures = Array.from({ length: bricks }, (_, brick) => signatureOf(brick * step));
    const beforeFind = performance.now();
    const { size } = await store.findMeasurements(signatures, SYSTEM.fingerprint, SETUP_KEY);
    const beforePut = performance.now();
    await putAll(store, measurements, NEW);
    const end = performance.now();
    return {
      backend,
      measurements,
      found: size,
      findSeconds: (beforePut - beforeFind) / 1000,
      putSeconds: (end - beforePut) / 1000,
    };
  } finally {
    await store.close();
  }
}

async function putAll(store: ResultStore, first: number, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, index) => store.putMeasurement(measurementOf(first + index))));
}

function measurementOf(index: number): Measurement {
  const runMs = Array.from({ length: SAMPLES }, (_, sample) => 1 + (index % 1000) / 7 + sample / 1000);
  return sampleMeasurement(index, {
    outcome: { kind: 'samples', runMs, warmupMs: runMs.slice(0, 3) },
  });
}
