import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { temporaryFolder } from '../../store/temporary-folder.js';
import { measureOne } from '../support/measure-one.js';
import { protocol, relu, runOptions } from '../support/tiny-benchmarks.js';

test('an agent measures with another package of the runtime, loaded in its worker, with telemetry off', async (t) => {
  const folder = join(await temporaryFolder(t), 'onnxruntime-node');
  const marker = join(folder, 'loaded');
  const installed = createRequire(import.meta.url).resolve('onnxruntime-node');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'onnxruntime-node', version: '9.9.9' }));
  // The installed runtime in a package of its own, which notes that it was loaded, and with what.
  await writeFile(
    join(folder, 'index.js'),
    `require('node:fs').writeFileSync(${JSON.stringify(marker)}, process.pid + ' ' + process.env.ORT_DISABLE_TELEMETRY);
    module.exports = require(${JSON.stringify(installed)});`,
  );
  const agent = await startAgent({ packageFolder: folder });
  const client = await connectAgent(agent.address);
  t.after(async () => {
    await client.close();
    await agent.close();
  });
  assert.equal(client.description.frameworkVersion, '9.9.9');
  const { outcome, system } = await measureOne(client, relu, runOptions, protocol);
  assert.equal(outcome.kind, 'samples');
  assert.equal(system.frameworkVersion, '9.9.9');
  const [pid, telemetry] = (await readFile(marker, 'utf8')).split(' ');
  assert.notEqual(pid, `${process.pid}`);
  assert.equal(telemetry, '1');
});
