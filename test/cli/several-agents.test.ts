import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { systemsResultSchema } from '../../src/evaluation/systems-result.js';
import { until } from '../support/until.js';
import { workplace, type Workplace } from './support/command.js';
import { chain, MANY_BRICKS, MANY_OPERATORS } from './support/tiny-models.js';

/**
 * The limit only ends a test that hangs. Each test starts a server, a plugin and two agents of its own. The longest
 * test, which waits for a suspended agent, runs beside the others.
 */
const suite = { timeout: 600_000, concurrency: 2 };

const ANYWHERE = ['--listen', '127.0.0.1:0'] as const;

/** A server with a plugin, and agents of these frameworks, each in a process of its own. */
async function atWork(t: TestContext, frameworks: readonly string[]) {
  const place = await workplace(t);
  await place.write('many.onnx', chain(MANY_OPERATORS));
  const manifest = await place.write('many.yml', JSON.stringify(MANY_BRICKS));
  const server = place.start(['serve', ...ANYWHERE, '--plugins', 'dlbricks']);
  const [, address = ''] = await server.said(/server listening on (\S+)/);
  const client = connectEvaluations(address);
  t.after(() => client.close());
  const agents = frameworks.map((framework) =>
    place.start(['agent', ...ANYWHERE, '--framework', framework, '--server', address]),
  );
  const addresses: string[] = [];
  for (const agent of agents) addresses.push((await agent.said(/registered with \S+ as (\S+)/))[1] ?? '');
  await until(async () => (await client.plugins()).length > 0);
  return { place, client, agents, addresses, evaluate: ['evaluate', manifest, '--server', address] };
}

async function coverageIn(place: Workplace, file: string): Promise<number | undefined> {
  const report = JSON.parse(await readFile(place.path(file), 'utf8')) as { models: { coverage: number }[] };
  return report.models[0]?.coverage;
}

describe('several agents in processes of their own', suite, () => {
  for (const [end, signal] of [
    ['is suspended', 'SIGSTOP'],
    ['is killed', 'SIGKILL'],
  ] as const) {
    it(`share an evaluation, and take over the work of one that ${end} in the middle`, async (t) => {
      const { place, client, agents, addresses, evaluate } = await atWork(t, ['onnxruntime', 'onnxruntime']);
      const command = place.start([...evaluate, '--agents', 'all', '--export-json', 'report.json']);
      await command.said(/2 agents with .*: /);
      await until(async () => {
        const [evaluation] = await client.list(1);
        const last = evaluation && (await client.get(evaluation.id)).last?.event;
        return last?.kind === 'measuring' && last.done >= 2 && last.done < last.total;
      });
      agents[1]?.process.kill(signal);
      const { stderr, code } = await command.ended;
      assert.equal(code, 0, stderr);
      assert.match(
        stderr,
        /2 machines differ by [\d.]+ % \(standard deviation\) in the time of the same 2 measurements/,
      );
      assert.match(stderr, new RegExp(`warning: the agent at ${addresses[1]} is left out, the others do its work: `));
      assert.equal(await coverageIn(place, 'report.json'), 1);
    });
  }

  it('have an estimate for each of their systems, in one table and one document', async (t) => {
    const { place, evaluate } = await atWork(t, ['onnxruntime', 'onnxruntime-web']);
    const exports = ['--export-json', 'systems.json', '--export-csv', 'systems.csv'];
    const { stdout, stderr, code } = await place.run([...evaluate, '--placement', 'each', ...exports]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /│ model │ +onnxruntime \S+ \(ms\) │ +onnxruntime-web \S+ \(ms\) │/);
    const document = systemsResultSchema.parse(JSON.parse(await readFile(place.path('systems.json'), 'utf8')));
    assert.deepEqual(
      document.systems.map(({ framework, estimates }) => [framework, estimates.map(({ coverage }) => coverage)]),
      [
        ['onnxruntime', [1]],
        ['onnxruntime-web', [1]],
      ],
    );
    const rows = (await readFile(place.path('systems.csv'), 'utf8')).trimEnd().split('\r\n');
    assert.equal(rows.length, 3);
  });

  it('keep the results of the others where one is killed, with exit code 3 and the reason of the failure', async (t) => {
    const { place, client, agents, evaluate } = await atWork(t, ['onnxruntime', 'onnxruntime-web']);
    const command = place.start([...evaluate, '--placement', 'each', '--export-json', 'systems.json']);
    await until(async () => {
      const [evaluation] = await client.list(1);
      return evaluation !== undefined && (await client.get(evaluation.id)).last?.event.kind === 'measuring';
    });
    agents[1]?.process.kill('SIGKILL');
    const { stdout, stderr, code } = await command.ended;
    assert.equal(code, 3, stderr);
    assert.match(stdout, /^onnxruntime-web \S+: failed: the agent at \S+ does not answer/m);
    const document = systemsResultSchema.parse(JSON.parse(await readFile(place.path('systems.json'), 'utf8')));
    assert.deepEqual(
      document.systems.map(({ framework, failure, estimates }) => [framework, failure?.code, estimates.length]),
      [
        ['onnxruntime', undefined, 1],
        ['onnxruntime-web', 'unavailable', 0],
      ],
    );
  });
});
