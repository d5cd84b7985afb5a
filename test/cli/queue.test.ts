import { Connection } from 'rabbitmq-client';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkItem } from '../../src/generated/mlmodelscope/work/v1/work.js';
import { toWireRunOptions } from '../../src/agent/wire/benchmark-wire.js';
import { buildRunOptions, computeClass } from '../../src/measurement/system.js';
import { openStore } from '../../src/store/open-store.js';
import { needsRabbitMq, startRabbitMq } from '../work/amqp/rabbitmq-process.js';
import { until } from '../support/until.js';
import { chain, MANY_BRICKS, MANY_OPERATORS } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

/** Only ends a test that hangs. */
const deadline = { timeout: 600_000 };

/** The class of the only system in a store, whose measurements came through the queue. */
async function systemHere(folder: string): Promise<string> {
  const store = await openStore(folder, { access: 'read' });
  const [system] = await store.listSystems();
  const collections = await store.listCollections();
  await store.close();
  assert.ok(collections.some(({ name }) => name === 'work_answers'));
  return computeClass(system ?? assert.fail('the store knows no system'));
}

describe('a platform with a queue', { ...deadline, ...needsRabbitMq }, () => {
  it('gives the bricks of an evaluation to agents, and shows their work', async (t) => {
    const place = await workplaceHere(t);
    const { uri } = await startRabbitMq(t);
    const shared = ['--store', place.path('shared')];
    const env = { MLMODELSCOPE_QUEUE: uri };
    const server = place.start(['serve', '--listen', '127.0.0.1:0', '--plugins', 'dlbricks', ...shared], { env });
    const [, address = ''] = await server.said(/server listening on (\S+)/);
    const agents = [1, 2].map(() =>
      place.start(['agent', '--listen', '127.0.0.1:0', '--server', address, ...shared], { env }),
    );
    for (const agent of agents) {
      await agent.said(/registered with/);
      await agent.said(/takes work for systems [0-9a-f]{8}/);
    }
    await place.write('many.onnx', chain(MANY_OPERATORS));
    const manifest = await place.write('evaluation.yml', JSON.stringify(MANY_BRICKS));
    const json = place.path('result.json');
    const evaluated = await place.run(['evaluate', manifest, '--server', address, '--export-json', json]);
    assert.equal(evaluated.code, 0, evaluated.stderr);

    const list = await place.run(['queue', 'list', ...shared], { env });
    assert.equal(list.code, 0, list.stderr);
    // The last columns: agents, and waiting work.
    assert.match(list.stdout, /│\s+2 │\s+0 │/);

    const client = new Connection(uri);
    t.after(() => client.close());
    const queue = `mlmodelscope.work.${await systemHere(place.path('shared'))}`;
    const publisher = client.createPublisher({ confirm: true });
    await publisher.send({ routingKey: queue, messageId: 'odd-message' }, Buffer.from('no work'));
    await publisher.close();
    const failed = () => place.run(['queue', 'failed'], { env });
    await until(async () => (await failed()).stdout.includes('odd-mess'));
    assert.match((await failed()).stdout, /no work of this version.*the message/);
    const retried = await place.run(['queue', 'retry', 'odd'], { env });
    assert.match(retried.stdout, /queued 1 piece of work again/);
    await until(async () => (await failed()).stdout.includes('odd-mess'));
    for (const command of ['retry', 'drop']) {
      const unknown = await place.run(['queue', command, 'nothing'], { env });
      assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
      assert.match(unknown.stderr, /begins with nothing; see "queue failed"/);
    }

    // Whatever others put into the queues ends no agent, and stops no command.
    const request = {
      benchmark: { signature: 'ab'.repeat(32), model: Buffer.from('garbage'), inputs: [], weights: '' },
    };
    const time = { seconds: 1n, nanos: 0 };
    const protocol = {
      warmupRuns: 1,
      runs: 2,
      minRuns: 1,
      timeBudget: time,
      timeLimit: time,
      memoryLimitBytes: 2n ** 30n,
    };
    const runOptions = toWireRunOptions(buildRunOptions(1));
    const rest = { runOptions, footprintBytes: 2n ** 20n, modelBytes: 0n, roughMs: 0, replaces: '' };
    const requests = [{ ...request, ...rest, protocol: { ...protocol, occasion: 1 } }];
    const poison = WorkItem.encode({ version: 1, requests, wantedBy: '', store: '', traceContext: {} }).finish();
    const hostile = client.createPublisher({ confirm: true });
    await hostile.send({ routingKey: queue, messageId: 'poison' }, Buffer.from(poison));
    await hostile.send({ routingKey: queue, messageId: 'large' }, Buffer.alloc(20_000_000));
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    await hostile.send({ routingKey: queue, messageId: 'deep', contentType: 'application/json' }, Buffer.from(deep));
    const headers = { 'x-mlmodelscope-system': 'x'.repeat(1000), 'x-mlmodelscope-reason': 7 };
    await hostile.send({ exchange: 'mlmodelscope.failed', messageId: 'stranger', headers }, Buffer.from('?'));
    await hostile.close();
    // The broker ends before the hook above, and would reset an open connection.
    await client.close();
    const isListed = async (): Promise<boolean> => {
      const { stdout } = await failed();
      return ['poison', 'large', 'deep', 'stranger'].every((id) => stdout.includes(id));
    };
    await until(isListed);
    assert.match((await failed()).stdout, /not an ONNX file/);
    const all = await place.run(['queue', 'retry', '--all'], { env });
    assert.equal(all.code, 0, all.stderr);
    assert.match(all.stdout, /queued 3 pieces of work again/);
    assert.match(all.stderr, /large has 20000000 bytes, more than 15728640; "queue drop" removes it/);
    assert.match(all.stderr, /stranger is of no known kind of machines/);
    await until(isListed);
    const large = await place.run(['queue', 'drop', 'large'], { env });
    assert.deepEqual([large.code, large.stdout], [0, 'dropped 1 piece of work\n'], large.stderr);
    assert.match((await place.run(['queue', 'drop', '--all'], { env })).stdout, /dropped 4 pieces of work/);
    assert.doesNotMatch((await failed()).stdout, /poison|large|deep|stranger|odd-mess/);
    // Both agents still serve.
    assert.match((await place.run(['queue', 'list', ...shared], { env })).stdout, /│\s+2 │\s+0 │/);
  });
});

describe('a queue that cannot be used', deadline, () => {
  it('is an error before anything starts, whose message does not have the password', async (t) => {
    const place = await workplaceHere(t);
    const env = { MLMODELSCOPE_QUEUE: 'amqp://alice:correct-horse@127.0.0.1:1' };
    const commands = [
      ['serve', '--listen', '127.0.0.1:0', '--no-plugins'],
      ['agent', '--listen', '127.0.0.1:0'],
      ['queue', 'failed'],
    ];
    for (const command of commands) {
      const { code, stderr } = await place.run(command, { env });
      assert.equal(code, 1, stderr);
      assert.match(stderr, /amqp:\/\/127\.0\.0\.1:1 cannot be used: no broker listens there: start it/);
      assert.doesNotMatch(stderr, /correct-horse/);
    }
  });

  it('is a usage error where its address is invalid, or an agent has no store for its work', async (t) => {
    const place = await workplaceHere(t);
    const none = await place.run(['queue', 'failed', '--queue', 'rabbit']);
    assert.deepEqual([none.code, /amqp:\/\/USER:PASSWORD@HOST/.test(none.stderr)], [2, true], none.stderr);
    const queue = ['--queue', 'amqp://127.0.0.1:1'];
    const agent = await place.run(['agent', '--listen', '127.0.0.1:0', ...queue], {
      env: { MLMODELSCOPE_STORE: undefined },
    });
    assert.deepEqual([agent.code, /--queue also needs the store/.test(agent.stderr)], [2, true], agent.stderr);
    const empty = await place.run(['queue', 'failed'], { env: { MLMODELSCOPE_QUEUE: '' } });
    assert.deepEqual([empty.code, /'--queue <uri>' not specified/.test(empty.stderr)], [2, true], empty.stderr);
    const missing = await place.run(['queue', 'retry', ...queue]);
    assert.deepEqual([missing.code, /give --all/.test(missing.stderr)], [2, true], missing.stderr);
  });
});
