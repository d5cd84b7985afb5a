import { Client, credentials, type handleUnaryCall, Metadata, status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { ModelManifest } from '../../src/generated/carml/org/dlframework/registry.js';
import { BenchmarkServiceService } from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { PredictorOpenRequest, PredictService } from '../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { offer } from '../directory/support/offer.js';
import { ALL, ALLOWED, isForAgents } from '../rpc/support/allowed-methods.js';
import { type Role, ROLES } from '../../src/rpc/roles.js';
import { until } from '../support/until.js';
import { deadline, type Ending, type Running, type Workplace } from './support/command.js';
import { chain, FOUR_LAYERS, TINY_EVALUATION } from './support/tiny-models.js';
import { accessOf, newToken, type RoleToken, writeAccessFile } from './support/tokens.js';
import { workplaceHere } from './support/workplace-here.js';

const asItIs = (bytes: Buffer): Buffer => bytes;

/** A request without fields; for Attach, a renewal, with which no plugin begins. */
function requestOf(path: string): Buffer {
  return path.endsWith('/Attach') ? Buffer.from([0x12, 0]) : Buffer.alloc(0);
}

/** The status of a call with an empty request. On the wire, all kinds of calls are the same. */
async function statusOf(address: string, path: string, token?: string): Promise<status> {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
  const call = client.makeBidiStreamRequest(path, asItIs, asItIs, metadata);
  const ended = new Promise<status>((resolve) => call.once('status', ({ code }) => resolve(code)));
  call.on('data', () => {}).on('error', () => {});
  call.write(requestOf(path));
  call.end();
  const code = await ended;
  client.close();
  return code;
}

interface Team {
  readonly place: Workplace;
  readonly tokens: Readonly<Record<Role, RoleToken>>;
  readonly access: string;
  readonly server: Running;
  readonly serverAddress: string;
  readonly agentAddress: string;
  /** Runs a command of the holder of a token. */
  readonly run: (role: Role, args: readonly string[]) => Promise<Ending>;
}

const tokenVariable = ({ token }: RoleToken): { readonly env: Readonly<Record<string, string>> } => {
  return { env: { MLMODELSCOPE_TOKEN: token } };
};

/** A server, its plugin in a process of its own, and an agent, each with a token of its own. */
async function startTeam(place: Workplace): Promise<Team> {
  const made = ROLES.map(newToken);
  const tokens = Object.fromEntries(made.map((one) => [one.role, one])) as unknown as Team['tokens'];
  const access = await writeAccessFile(place, accessOf(made));
  const file = ['--access-file', access];
  const server = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins', ...file], tokenVariable(tokens.full));
  const [, serverAddress = ''] = await server.said(/server listening on (\S+)/);
  const plugin = place.start(['plugin', 'dlbricks', '--server', serverAddress], tokenVariable(tokens.plugin));
  await plugin.said(/plugin dlbricks registered/);
  const agent = place.start(
    ['agent', '--listen', '127.0.0.1:0', '--server', serverAddress, ...file],
    tokenVariable(tokens.agent),
  );
  const [, agentAddress = ''] = await agent.said(/agent listening on (\S+)/);
  await agent.said(/registered with/);
  const run: Team['run'] = (role, args) => place.run([...args, '--server', serverAddress], tokenVariable(tokens[role]));
  return { place, tokens, access, server, serverAddress, agentAddress, run };
}

/** Starts one team for all tests of a suite. The returned function returns it inside a test. */
function teamForSuite(): () => Team {
  const undone: (() => unknown)[] = [];
  let team: Team | undefined;
  before(async () => {
    team = await startTeam(await workplaceHere({ after: (undo) => void undone.unshift(undo) }));
  });
  after(async () => {
    for (const undo of undone) await undo();
  });
  return () => team ?? assert.fail('only inside of a test');
}

/** An evaluation of one small model. */
async function evaluation(place: Workplace): Promise<string> {
  await place.write('net.onnx', chain(FOUR_LAYERS));
  return place.write('evaluation.yml', JSON.stringify(TINY_EVALUATION));
}

describe('a token with a role', deadline, () => {
  const team = teamForSuite();

  for (const role of ROLES) {
    it(`${role}: allows exactly the methods of this role`, async () => {
      const { serverAddress, agentAddress, tokens } = team();
      const allowed: string[] = [];
      for (const path of ALL) {
        const address = isForAgents(path) ? agentAddress : serverAddress;
        const code = await statusOf(address, path, tokens[role].token);
        assert.notEqual(code, status.UNAUTHENTICATED, path);
        if (code !== status.PERMISSION_DENIED) allowed.push(path);
      }
      assert.deepEqual(allowed.toSorted(), ALLOWED[role].toSorted());
    });
  }

  it('is necessary for every call except health checks, also at agents', async () => {
    const { serverAddress, agentAddress } = team();
    for (const path of ALL) {
      const address = isForAgents(path) ? agentAddress : serverAddress;
      assert.equal(await statusOf(address, path), status.UNAUTHENTICATED, path);
      assert.equal(await statusOf(address, path, newToken('full').token), status.UNAUTHENTICATED, path);
    }
    for (const address of [serverAddress, agentAddress]) {
      assert.equal(await statusOf(address, '/grpc.health.v1.Health/Check'), status.OK);
    }
  });

  it('lets one submit an evaluation, and another one read its result', async () => {
    const { place, run } = team();
    const submitted = await run('submit', ['evaluate', await evaluation(place), '--export-json', '-']);
    assert.equal(submitted.code, 0, submitted.stderr);
    const read = await run('read', ['evaluations', 'show', 'latest', '--export-json', '-']);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /"estimate_ms"/);
  });

  it('without the necessary role gives an error that names this role and says whom to ask', async () => {
    const { place, run } = team();
    const refused: readonly (readonly [Role, readonly string[], RegExp])[] = [
      ['read', ['evaluate', await evaluation(place)], /SubmitEvaluation needs a token with the role submit or full; "read" has the role read; ask the administrator/],
      ['agent', ['evaluations', 'list'], /ListEvaluations needs a token with the role read, submit or full; "agent"/],
      ['submit', ['agent', '--listen', '127.0.0.1:0'], /RegisterAgent needs a token with the role agent or full; "submit"/],
      ['read', ['plugin', 'latency'], /Attach needs a token with the role plugin or full; "read"/],
    ]; // prettier-ignore
    for (const [role, args, message] of refused) {
      const { code, stderr } = await run(role, args);
      assert.equal(code, 1, stderr);
      assert.match(stderr, message);
    }
  });
});

/** An agent that anyone could have written. It keeps the tokens that it is shown, and refuses every call. */
async function curiousAgent(t: TestContext) {
  const shown: (string | undefined)[] = [];
  const server = createRpcServer();
  const listen: handleUnaryCall<unknown, never> = ({ metadata }, callback) => {
    shown.push(metadata.get('authorization')[0]?.toString());
    callback({ code: status.UNIMPLEMENTED });
  };
  server.addService(BenchmarkServiceService, { describeSystem: listen });
  server.addService(PredictService, { open: listen });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close(new PlatformError('unavailable', 'done')));
  return { address, shown };
}

describe('an agent that registers with the role agent', deadline, () => {
  it('is shown the token that it has made, by the server and by its plugins, and no other', async (t) => {
    const place = await workplaceHere(t);
    const made = ROLES.map(newToken);
    const tokens = Object.fromEntries(made.map((one) => [one.role, one])) as unknown as Team['tokens'];
    const file = ['--access-file', await writeAccessFile(place, accessOf(made))];
    const server = place.start(
      ['serve', '--listen', '127.0.0.1:0', '--plugins', 'dlbricks', ...file],
      tokenVariable(tokens.full),
    );
    const [, serverAddress = ''] = await server.said(/server listening on (\S+)/);

    const { address, shown } = await curiousAgent(t);
    const agents = createRpcClient(serverAddress, 'server', { security: { token: tokens.agent.token } });
    t.after(() => agents.close());
    const models = [ModelManifest.fromPartial({ name: 'any', version: '1.0.0' })];
    const agent = toWireAgent(offer({ address, tls: false, models }));
    const accessToken = 'made-by-the-curious-agent';
    const { registerAgent } = AgentRegistryServiceService;
    await agents.unary(registerAgent, { agent, accessToken }, { deadlineMs: 10_000 });

    const args = ['evaluate', await evaluation(place), '--server', serverAddress];
    assert.equal((await place.run(args, tokenVariable(tokens.submit))).code, 1);
    const submit = createRpcClient(serverAddress, 'server', { security: { token: tokens.submit.token } });
    t.after(() => submit.close());
    const open = PredictorOpenRequest.fromPartial({ modelName: 'any' });
    await assert.rejects(submit.unary(PredictService.open, open, { deadlineMs: 10_000 }));

    assert.ok(shown.length >= 2, `${shown.length} calls`);
    assert.deepEqual(new Set(shown), new Set([`Bearer ${accessToken}`]));
    const list = '/mlmodelscope.evaluation.v1.EvaluationService/ListEvaluations';
    assert.equal(await statusOf(serverAddress, list, accessToken), status.UNAUTHENTICATED);
  });
});

describe('a server whose file of tokens changes', deadline, () => {
  it('uses the new file, or the last valid one', async (t) => {
    const { place, tokens, server, serverAddress } = await startTeam(await workplaceHere(t));
    const list = '/mlmodelscope.evaluation.v1.EvaluationService/ListEvaluations';
    const statusOfRead = (): Promise<status> => statusOf(serverAddress, list, tokens.read.token);
    assert.equal(await statusOfRead(), status.OK);

    await writeAccessFile(place, accessOf([tokens.full]));
    await server.said(/access\.yml has changed; tokens that are accepted from now on: 1\n/);
    assert.equal(await statusOfRead(), status.UNAUTHENTICATED);

    await writeAccessFile(place, 'tokens: none');
    await server.said(/warning: .*access\.yml:1:9: tokens: expected a list.*; the tokens from before stay accepted/);
    assert.equal(await statusOf(serverAddress, list, tokens.full.token), status.OK);

    await writeAccessFile(place, accessOf([tokens.full, tokens.read]));
    await until(async () => (await statusOfRead()) === status.OK);
  });

  it('does not start where its plugins would be refused', async (t) => {
    const place = await workplaceHere(t);
    const full = newToken('full');
    const read = newToken('read');
    const args = [
      'serve',
      '--listen',
      '127.0.0.1:0',
      '--access-file',
      await writeAccessFile(place, accessOf([full, read])),
    ];
    for (const options of [{}, tokenVariable(read), tokenVariable(newToken('full'))]) {
      const { code, stderr } = await place.run(args, options);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /need a token of --access-file .* with the role plugin or full: give it by --token-file/);
    }
    await place.start(args, tokenVariable(full)).said(/server listening/);
  });
});
