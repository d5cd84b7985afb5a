import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeKernels, keepKernels, knownKernels } from '../../../../plugins/dlbricks/measure/known-kernels.js';
import { earlierRuns } from '../../../../plugins/dlbricks/measure/earlier-runs.js';
import type { LayerFacts } from '../../../../plugins/dlbricks/work/layer-facts.js';
import { type Outcome, subjectKey } from '../../../../src/measurement/measurement.js';
import { identifySystem, optimizedRun } from '../../../../src/measurement/system.js';
import { readOnlyStore } from '../../../../src/store/read-only-store.js';
import { openMemoryStore } from '../../../../src/store/memory/open.js';
import { conditionsBeside } from '../../../store/measured-beside.js';
import {
  LIMITS,
  PROTOCOL,
  sampleMeasurement,
  sampleSystem,
  signatureOf,
  SYSTEM,
} from '../../../store/sample-measurement.js';
import {
  FOOTPRINT_BYTES,
  measuredTogetherOn,
  preparedOf,
  recipeOf,
  recipeTogether,
} from '../support/measured-bricks.js';
import { footprintClass } from '../../../../src/composite/footprint.js';
import { PlatformError } from '../../../../src/base/errors.js';
import type { ResultStore } from '../../../../src/store/result-store.js';
import { near } from '../../../support/near.js';

const SETTINGS = { runOptions: SYSTEM.runOptions, protocol: PROTOCOL, limits: LIMITS };

const tensor = (...dims: readonly number[]) => ({ elementType: 'float32', dims: [...dims] });

const CONV: LayerFacts = {
  operator: 'Conv',
  domain: '',
  attributes: {
    strides: [2, 2],
    auto_pad: 'VALID',
    alpha: 0.5,
    longest: 'x'.repeat(64),
    pads: new Array<number>(64).fill(1),
    // None of these decides how long it takes.
    nan: NaN,
    nans: [1, NaN],
    text: 'x'.repeat(65),
    values: new Array<number>(65).fill(1),
    texts: ['a'],
    tensor: { type: 4 },
  },
  inputs: [tensor(1, 3, 8, 8), tensor(4, 3, 3, 3)],
  outputs: [tensor(1, 4, 6, 6)],
  activations: [0],
};

const STORED = {
  signature: signatureOf(0),
  model: 'graph',
  operator: 'Conv',
  domain: '',
  attributes: {
    strides: [2, 2],
    auto_pad: 'VALID',
    alpha: 0.5,
    longest: CONV.attributes?.['longest'],
    pads: CONV.attributes?.['pads'],
  },
  inputs: CONV.inputs,
  outputs: CONV.outputs,
  activations: [0],
};

/** A brick of one kernel, one of two, and one without kernels. */
const MODEL = { ...preparedOf(recipeTogether([1, 1, 1])), facts: [[CONV], [CONV, CONV], []], graph: 'graph' };

test('bricks of one kernel say what they compute, without long attributes; others, and graphs of copies, do not', () => {
  assert.deepEqual(describeKernels([MODEL, { ...MODEL, graph: 'another' }]), new Map([[STORED.signature, STORED]]));
  assert.equal(describeKernels([{ ...MODEL, recipe: recipeOf([1, 1, 1]) }]).size, 0);
  assert.equal(describeKernels([{ ...MODEL, facts: [[{ ...CONV, isSteered: true }], [], []] }]).size, 0);
  const [unnamed] = describeKernels([{ ...MODEL, graph: undefined }]).values();
  assert.equal(unnamed?.model, MODEL.whole.signature);
});

test('measured kernels are those that the store or the models describe, as far as nothing disturbed them', async () => {
  const store = await openMemoryStore();
  const described = describeKernels([MODEL]);
  await keepKernels(store, described, described);
  assert.deepEqual((await knownKernels(store, new Map(), SYSTEM, SETTINGS)).stored, new Map());
  const system = identifySystem(SYSTEM, optimizedRun(SYSTEM.runOptions));
  const disturbed = { ...measuredTogetherOn(2, 0, 50), system, conditions: conditionsBeside(900) };
  for (const one of [{ ...measuredTogetherOn(1, 0, 5), system }, disturbed]) await store.putMeasurement(one);
  assert.deepEqual((await knownKernels(store, new Map(), SYSTEM, SETTINGS)).measured, []);
  const fromModels = await knownKernels(store, described, SYSTEM, SETTINGS);
  await keepKernels(store, described);
  const fromStore = await knownKernels(store, new Map(), SYSTEM, SETTINGS);
  assert.deepEqual(fromStore.stored, described);
  for (const { measured } of [fromModels, fromStore]) {
    const [{ ms, ...rest } = assert.fail(), ...others] = measured;
    near(ms, 5);
    assert.deepEqual([rest, others], [{ facts: STORED, footprintBytes: FOOTPRINT_BYTES, model: 'graph' }, []]);
  }
});

test('kernels count in each class of footprints, up to that of the largest models', async () => {
  const { cacheBytes } = SYSTEM;
  const system = identifySystem(SYSTEM, optimizedRun(SYSTEM.runOptions));
  const all = [1, 2 ** 18, 2 ** 20, 2 ** 24, 1.5 * cacheBytes - 1, 2 ** 39];
  const classes = [...new Set(all.map((bytes) => footprintClass(bytes, cacheBytes)))];
  const store = await openMemoryStore();
  for (const footprintBytes of classes) {
    await store.putMeasurement({ ...measuredTogetherOn(1, 0, 5), system, context: { footprintBytes } });
  }
  const { measured } = await knownKernels(store, describeKernels([MODEL]), SYSTEM, SETTINGS);
  assert.deepEqual(
    measured.map(({ footprintBytes }) => footprintBytes),
    classes,
  );
});

test('where the store’s server is gone, nothing is known, and nothing is kept', async () => {
  const fail = (): Promise<never> => Promise.reject(new PlatformError('unavailable', 'the server is gone'));
  const none = { [Symbol.asyncIterator]: () => ({ next: fail }) };
  const store = {
    ...(await openMemoryStore()),
    findMeasurements: fail,
    listMeasurements: () => none,
    collection: () => ({ find: () => none, putMany: fail }),
  } as unknown as ResultStore;
  await keepKernels(store, describeKernels([MODEL]));
  const { measured, stored } = await knownKernels(store, describeKernels([MODEL]), SYSTEM, SETTINGS);
  assert.deepEqual([measured, stored], [[], new Map()]);
  assert.deepEqual(await earlierRuns(store, SYSTEM, PROTOCOL), { bricks: [], wholes: new Map() });
});

test('of a store with many measurements, earlier runs are those of the first 5000', async () => {
  const system = identifySystem(SYSTEM, optimizedRun(SYSTEM.runOptions));
  let read = 0;
  async function* endless() {
    for (; ; read++) yield await Promise.resolve({ ...measuredTogetherOn(1, read, 5), system });
  }
  const { bricks } = await earlierRuns({ listMeasurements: endless }, SYSTEM, PROTOCOL);
  assert.equal(bricks.length, 5000);
  assert.ok(read <= 5000);
});

test('kernels that the store has are not written again, also where nothing can be written', async () => {
  const described = describeKernels([MODEL]);
  const store = readOnlyStore(await openMemoryStore(), 'elsewhere', () => undefined);
  await keepKernels(store, described, described);
});

test('earlier runs are those of this protocol: bricks among others without optimization, whole models with it', async () => {
  const store = await openMemoryStore();
  const unoptimized = identifySystem(SYSTEM, optimizedRun(SYSTEM.runOptions));
  const failure = { kind: 'failure', reason: 'crashed', message: 'it crashed' } as const;
  const brick = { ...measuredTogetherOn(1, 0, 5), system: unoptimized };
  const wholeIn = (ms: number): Outcome => ({ kind: 'samples', runMs: new Array<number>(5).fill(ms), warmupMs: [] });
  const whole = sampleMeasurement(1, { outcome: wholeIn(7) });
  const others = [
    { ...brick, signature: signatureOf(2), system: SYSTEM },
    { ...brick, signature: signatureOf(3), protocol: { ...PROTOCOL, runs: 7 } },
    { ...brick, signature: signatureOf(4), outcome: failure },
    { ...whole, signature: signatureOf(5), system: unoptimized },
    { ...whole, signature: signatureOf(6), system: sampleSystem({ processor: 'another' }) },
  ];
  for (const one of [brick, whole, { ...whole, occasion: 2, outcome: wholeIn(8) }, ...others])
    await store.putMeasurement(one);
  const { bricks, wholes } = await earlierRuns(store, SYSTEM, PROTOCOL);
  const [{ ms, ...rest } = assert.fail(), ...more] = bricks;
  near(ms, 5);
  assert.deepEqual([rest, more], [{ brick: subjectKey(brick.signature, brick.context), process: '1' }, []]);
  assert.deepEqual([...wholes], [[whole.signature, [7, 8]]]);
});
