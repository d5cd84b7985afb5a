import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { measureOne } from '../agent/support/measure-one.js';
import { predictClient } from '../agent/support/predict-client.js';
import { protocol, relu, runOptions } from '../agent/support/tiny-benchmarks.js';
import { deadline, MAIN, workplace, type Workplace } from './support/command.js';
import { chain } from './support/tiny-models.js';

const PHOTO = readFileSync(join(import.meta.dirname, '../../../test/processing/fixtures/photo.jpg'));

const MODEL = chain(['Relu', 'Tanh'], ['batch', 3, 4, 4]);

const MANIFEST = `
dlspec: model/v1
name: tiny
version: 1.0.0
framework: { name: onnxruntime, version: '>=1.0' }
inputs:
  - layer_name: x
    element_type: float32
    dimensions: [batch, 3, 4, 4]
    steps:
      - decode: { color_mode: RGB }
      - resize: { height: 4, width: 4, method: bilinear }
      - layout: CHW
outputs:
  - layer_name: y
    element_type: float32
    dimensions: [batch, 3, 4, 4]
model:
  graph_path: tiny.onnx
  checksum: ${createHash('sha256').update(MODEL).digest('hex')}
`;

/** Folders in which programs leave files: a user's own, the cache, the configuration and the temporary one. */
const PLACES = {
  HOME: 'home',
  XDG_CACHE_HOME: 'xdg-cache',
  XDG_CONFIG_HOME: 'xdg-config',
  XDG_DATA_HOME: 'xdg-data',
  XDG_STATE_HOME: 'xdg-state',
  TMPDIR: 'tmp',
} as const;

async function privatePlace(t: TestContext) {
  const place = await workplace(t);
  for (const folder of [...Object.values(PLACES), 'models']) mkdirSync(place.path(folder));
  await place.write('models/tiny.onnx', MODEL);
  await place.write('models/tiny.yml', MANIFEST);
  const own = Object.entries(PLACES).map(([variable, folder]) => [variable, place.path(folder)] as const);
  // A user who asks for telemetry gets none either: the runtime would send facts about other people's models.
  const env = { ...place.env, ...Object.fromEntries(own), ORT_DISABLE_TELEMETRY: '0' };
  return { ...place, env };
}

/** Every file in the folders in which programs leave files. */
function filesLeft(place: Workplace): readonly string[] {
  return Object.values(PLACES).flatMap((folder) => {
    const entries = readdirSync(place.path(folder), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  });
}

/** Has an agent measure a benchmark and predict with a model; calls `lookAround` while its processes run. */
async function measureAndPredict(t: TestContext, address: string, lookAround: () => void): Promise<void> {
  const agent = await connectAgent(address);
  t.after(() => agent.close());
  const predictions = predictClient(address);
  t.after(() => predictions.close());
  const { outcome } = await measureOne(agent, relu, runOptions, protocol);
  assert.equal(outcome.kind, 'samples');
  const id = await predictions.open('tiny');
  const { responses } = await predictions.images(id, [PHOTO]);
  assert.equal(responses.length, 1);
  lookAround();
  await predictions.closeModel(id);
}

const LISTENING = /^agent listening on (127\.0\.0\.1:\d+)\n/;

const agentArgs = (place: Workplace) => ['agent', '--listen', '127.0.0.1:0', '--models', place.path('models')];

describe('a file that a user did not ask for', { ...deadline, concurrency: 2 }, () => {
  it('is not left on the disk by measuring and predicting', async (t) => {
    const place = await privatePlace(t);
    const agent = place.start(agentArgs(place), { env: place.env });
    const [, address = ''] = await agent.said(LISTENING);
    await measureAndPredict(t, address, () => assert.deepEqual(filesLeft(place), []));
    agent.process.kill('SIGINT');
    assert.equal((await agent.ended).code, 0);
    assert.deepEqual(filesLeft(place), []);
  });

  const canTrace = spawnSync('strace', ['-f', 'true']).status === 0;

  it('is not read, and nothing is sent to other machines', { skip: canTrace ? false : 'needs strace' }, async (t) => {
    const place = await privatePlace(t);
    const log = place.path('strace.log');
    const strace = ['-f', '-qq', '-o', log, '-e', 'trace=connect,sendto,sendmmsg,open,openat'];
    const agent = place.startProgram('strace', [...strace, process.execPath, MAIN, ...agentArgs(place)], {
      env: place.env,
      ownGroup: true,
    });
    const [, address = ''] = await agent.said(LISTENING);
    await measureAndPredict(t, address, () => {});
    // strace itself ignores an interrupt, and ends with the agent.
    process.kill(-agent.pid, 'SIGINT');
    await agent.ended;
    const calls = readFileSync(log, 'utf8').split('\n');
    const opened = calls.filter((call) => /open(at)?\(/.test(call));
    // The log has the runtime's own library, so that an empty list below is a real result.
    assert.notDeepEqual(
      opened.filter((call) => call.includes('libonnxruntime')),
      [],
    );
    assert.deepEqual(
      opened.filter((call) => /machine-id|mat-debug|deviceid|\.ses"/.test(call)),
      [],
    );
    const connected = calls.filter((call) => /connect\(.*AF_INET/.test(call) && !/127\.0\.0\.1|::1/.test(call));
    assert.deepEqual(connected, []);
    assert.deepEqual(
      calls.filter((call) => /send(to|mmsg)\(.*events/.test(call)),
      [],
    );
  });
});
