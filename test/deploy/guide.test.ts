import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { describe, it, type TestContext } from 'node:test';
import { type Running, workplace } from '../cli/support/command.js';
import { chain, FOUR_LAYERS, TINY_EVALUATION } from '../cli/support/tiny-models.js';
import { needsFerretDb, startFerretDb } from '../store/mongodb/ferretdb-process.js';
import { temporaryFolder } from '../store/temporary-folder.js';
import { freePort } from '../support/free-port.js';
import { needsRabbitMq, startRabbitMq } from '../work/amqp/rabbitmq-process.js';
import { inRepository } from './compose-file.js';
import { readUnit } from './unit-file.js';

/** Only ends a test that hangs. */
const deadline = { timeout: 600_000 };

const guide = readFileSync(inRepository('docs/deploy.md'), 'utf8');

/** The first indented block of a section. */
function blockOf(heading: string): string {
  const section = guide.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? assert.fail(`no section ${heading}`);
  const lines = section.split('\n');
  const first = lines.findIndex((line) => line.startsWith('    '));
  const last = lines.findIndex((line, index) => index > first && !line.startsWith('    '));
  return lines.slice(first, last).map((line) => line.slice(4)).join('\n'); // prettier-ignore
}

/** Starts a TLS proxy in front of a server without TLS. @returns host:port */
async function tlsBefore(t: TestContext, address: string, folder: string, name: string): Promise<string> {
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  const proxy = createServer({ cert: read(`${name}.pem`), key: read(`${name}-key.pem`) }, (socket) => {
    const [host = '', port = ''] = address.split(':');
    const plain = connect({ host, port: Number(port) });
    socket.on('error', () => plain.destroy()).on('close', () => plain.destroy());
    plain.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(plain).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  return `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

async function addressOf(running: Running): Promise<string> {
  const [, address = ''] = await running.said(/listening on (\S+)/);
  return address;
}

describe('docs/deploy.md', { ...deadline, skip: needsFerretDb.skip || needsRabbitMq.skip }, () => {
  it('makes the certificates and tokens with which the units run a platform, over TLS everywhere', async (t) => {
    const place = await workplace(t);
    const folder = place.path('etc');
    mkdirSync(folder);
    for (const heading of ['Certificates', 'Tokens']) {
      execFileSync('sh', ['-eu', '-c', blockOf(heading)], { cwd: folder, stdio: 'pipe' });
    }
    const database = await startFerretDb(t, { authenticated: true });
    const broker = await startRabbitMq(t);
    const mongodb = await tlsBefore(t, database.address, folder, 'mongodb');
    const rabbitmq = await tlsBefore(t, broker.address, folder, 'rabbitmq');
    const options = `authSource=admin&tls=true&tlsCAFile=${join(folder, 'ca.pem')}`;
    const shared = {
      MLMODELSCOPE_STORE: `mongodb://alice:correct-horse@${mongodb}/results?${options}`,
      MLMODELSCOPE_QUEUE: `amqps://alice:correct-horse@${rabbitmq}`,
    };
    const start = (unit: string, variables: Readonly<Record<string, string>>, instance?: string): Running => {
      const { args, environment } = readUnit(unit, {
        folder,
        variables,
        ...(instance === undefined ? {} : { instance }),
      });
      return place.start(args, { env: { ...shared, ...environment } });
    };

    const SERVER = await addressOf(
      start('mlmodelscope-server.service', { LISTEN: '127.0.0.1:0', OPTIONS: '--http=127.0.0.1:0' }),
    );
    const plugin = start('mlmodelscope-plugin@.service', { SERVER }, 'dlbricks');
    await plugin.said(/plugin dlbricks registered/);
    const here = `127.0.0.1:${await freePort()}`;
    const listen = { LISTEN: here, ADVERTISE: here, SERVER };
    const agent = start('mlmodelscope-agent@.service', listen, '1');
    await agent.said(/takes work for systems/);
    await agent.said(/registered with/);

    const files = ['--tls-cert', 'client.pem', '--tls-key', 'client-key.pem', '--tls-ca', 'ca.pem'].map((word) =>
      word.endsWith('.pem') ? join(folder, word) : word,
    );
    const as = (holder: string) => ({ env: { ...shared, MLMODELSCOPE_TOKEN_FILE: join(folder, `${holder}.token`) } });
    const agents = await place.run([...files, 'registry', 'agents', '--server', SERVER], as('dashboard'));
    assert.ok(agents.stdout.includes(here), agents.stderr);
    await place.write('net.onnx', chain(FOUR_LAYERS));
    const manifest = await place.write('evaluation.yml', JSON.stringify(TINY_EVALUATION));
    const evaluated = await place.run([...files, 'evaluate', manifest, '--server', SERVER], as('nightly'));
    assert.equal(evaluated.code, 0, evaluated.stderr);

    for (const running of [plugin, agent]) {
      running.process.kill('SIGTERM');
      const { code, stderr } = await running.ended;
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /can be read by other users/);
    }
  });

  it('moves the whole content of a store into another store', async (t) => {
    const place = await workplace(t);
    const model = await place.write('net.onnx', chain(FOUR_LAYERS));
    const measured = await place.run(['dlbricks', 'run', model, '--cut', 'layer', '--runs', '3', '--warmup', '1']);
    assert.equal(measured.code, 0, measured.stderr);
    const inStore = async (uri: string): Promise<readonly string[]> => {
      const file = place.path('export.jsonl');
      const { code, stderr } = await place.run(['store', 'export', file, '--store', uri]);
      assert.equal(code, 0, stderr);
      return readFileSync(file, 'utf8').split('\n').sort();
    };
    const before = await inStore(place.store);
    assert.ok(before.length > 3);
    const { address } = await startFerretDb(t);
    const restored = `mongodb://${address}/restored`;
    const imported = await place.run(['store', 'import', place.path('export.jsonl'), '--store', restored]);
    assert.equal(imported.code, 0, imported.stderr);
    assert.deepEqual(await inStore(restored), before);
  });
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the units', { skip: !hasSystemd && 'needs systemd-analyze' }, () => {
  it('are accepted by systemd', async (t) => {
    const folder = await temporaryFolder(t);
    const units = readdirSync(inRepository('deploy/systemd')).map((name) => {
      const text = readFileSync(inRepository(`deploy/systemd/${name}`), 'utf8');
      const path = join(folder, name.replace('@.', '@dlbricks.'));
      // The command is not installed here.
      writeFileSync(path, text.replace('/usr/local/bin/mlmodelscope', process.execPath));
      chmodSync(path, 0o644);
      return path;
    });
    assert.equal(units.length, 3);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  });
});
