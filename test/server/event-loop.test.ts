import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { AgentOffer } from '../../src/directory/agent-offer.js';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import { MAX_RESULT_BYTES } from '../../src/evaluation/event.js';
import { attachPlugin } from '../../src/evaluation/run/attach-plugin.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import {
  EvaluationServiceService,
  SubmitEvaluationRequest,
} from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { PluginServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { modelsFor } from '../../src/registry/built-in-models.js';
import { createRpcClient, type Method, type RpcClient } from '../../src/rpc/client.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { needsLinux } from '../agent/support/processes.js';
import { offer } from '../directory/support/offer.js';
import { floats, model, node, value } from '../onnx/protos.js';
import { handMadeClient, messagePrefix } from '../rpc/support/hostile.js';
import { temporaryFolder } from '../store/temporary-folder.js';
import { until } from '../support/until.js';
import { copies, doubling, emptyNodes, nested, refused } from './bombs.js';
import { AGENT, fakeAgent, submission } from './fake-platform.js';
import { DONE, obedient, scripted } from './scripted-evaluation.js';

const MIB = 2 ** 20;

/** What docs/security.md promises: no request keeps another client waiting for longer. */
const LONGEST_MS = 100;

const SERVER = fileURLToPath(new URL('measured-server-process.js', import.meta.url));

const { registerAgent, listAgents } = AgentRegistryServiceService;
const { getEvaluation, listEvaluations, submitEvaluation } = EvaluationServiceService;

const deadlineMs = 120_000;

interface Bombed {
  readonly address: string;
  readonly client: RpcClient;
  readonly evaluations: EvaluationClient;
  readonly longestMs: () => Promise<number>;
  readonly attach: (evaluation: Evaluation) => Promise<void>;
}

async function bombed(t: TestContext): Promise<Bombed> {
  const folder = join(await temporaryFolder(t), 'store');
  const child = fork(SERVER, [folder], { execArgv: [] });
  t.after(() => child.kill('SIGKILL'));
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  const client = createRpcClient(address, 'server');
  const evaluations = connectEvaluations(address);
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    client.close();
    evaluations.close();
  });
  await client.unary(registerAgent, { agent: toWireAgent(AGENT) }, { deadlineMs });
  return {
    address,
    client,
    evaluations,
    longestMs: async () => {
      child.send({});
      const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }];
      return longestMs;
    },
    attach: async (evaluation) => {
      const tools = { store: await openMemoryStore(), connect: fakeAgent };
      void attachPlugin(evaluation, address, tools, { signal: stop.signal });
      await until(async () => (await evaluations.plugins()).length > 0);
    },
  };
}

async function toTheEnd(evaluations: EvaluationClient, id: string): Promise<string> {
  let last = '';
  for await (const { event } of evaluations.follow(id, 0)) last = event.kind;
  return last;
}

/** Of a model: each becomes an input of many values, of which a submission may have 524,288. */
const WEIGHTS = 20_000;

/** Events of an evaluation, of which there may be 10,000. */
const EVENTS = 9000;

function largest(): Submission {
  const dims = [1, 200];
  const nameOf = (i: number): string => (i === 0 ? 'x' : i === WEIGHTS ? 'y' : `v${i}`);
  const content = model({
    input: [value('x', dims)],
    output: [value('y', dims)],
    initializer: Array.from({ length: WEIGHTS }, (_, i) => floats(`w${i}`, Array<number>(200).fill(1), dims)),
    node: Array.from({ length: WEIGHTS }, (_, i) => node('Add', [nameOf(i), `w${i}`], [nameOf(i + 1)])),
  });
  return copies(content, 1);
}

/** A million values in two mebibytes: field 15, which no request has, again and again. */
const MANY_VALUES = Buffer.alloc(2 * MIB, Uint8Array.of(0x78, 0x01));

/** Different models of an agent, as many as it may offer, and small, so that there are many of them. */
async function manyModels(agent: number): Promise<AgentOffer['models']> {
  const [some = assert.fail()] = await modelsFor({ framework: 'onnxruntime', frameworkVersion: '1.30.0' });
  const small = {
    ...some,
    description: '',
    preprocess: '',
    postprocess: '',
    inputs: [],
    reference: [],
    attributes: {},
  };
  return Array.from({ length: 100 }, (_, i) => ({ ...small, name: `model-${agent}-${i}`, version: `1.${agent}.${i}` }));
}

/** What keeps a server busy, each by what it is. */
const BOMBS: Readonly<Record<string, (server: Bombed, t: TestContext) => Promise<void>>> = {
  'submissions whose functions double, whose If nests, that are empty nodes': async ({ evaluations, attach }) => {
    await attach(scripted(async function* () {}));
    const bombs = [
      copies(doubling(16), 40),
      copies(doubling(40), 40),
      refused(nested(28, 20_000), 1),
      copies(emptyNodes(4 * MIB), 2),
    ];
    const submitted = bombs.map((bomb, i) => evaluations.submit(`bomb-000${i}`, bomb));
    const settled = await Promise.allSettled(submitted);
    assert.ok(settled.every(({ status }) => status === 'rejected'));
  },

  'a submission that is as large as it may be, and a result as well': async ({ client, evaluations, attach }) => {
    const result = Array.from({ length: MAX_RESULT_BYTES / 4 }, () => 12);
    await attach(
      scripted(async function* () {
        yield await Promise.resolve({ kind: 'done', result, partial: false });
      }),
    );
    await evaluations.submit('evaluation-1', largest());
    assert.equal(await toTheEnd(evaluations, 'evaluation-1'), 'done');
    const request = { evaluationId: 'evaluation-1', withoutResult: false };
    // Of all answers on one connection, 64 MiB may wait.
    const asked = Array.from({ length: 5 }, () => client.unary(getEvaluation, request, { deadlineMs }));
    for (const { lastEvent } of await Promise.all(asked)) assert.equal(lastEvent?.event?.$case, 'done');
  },

  'an evaluation of many events, and those who read it': async ({ evaluations, attach }) => {
    await attach(
      scripted(async function* () {
        for (let i = 0; i < EVENTS; i++) yield await Promise.resolve({ kind: 'note', level: 'info', message: `${i}` });
        yield DONE;
      }),
    );
    await evaluations.submit('evaluation-1', submission());
    assert.equal(await toTheEnd(evaluations, 'evaluation-1'), 'done');
  },

  'a thousand evaluations, and those who list them': async ({ client, evaluations, attach }) => {
    await attach(obedient);
    const ids = Array.from({ length: 1000 }, (_, i) => `evaluation-${i}`);
    for (let i = 0; i < ids.length; i += 50) {
      await Promise.all(ids.slice(i, i + 50).map((id) => evaluations.submit(id, submission())));
    }
    const lists = Array.from({ length: 20 }, () => client.unary(listEvaluations, { pageSize: 1000 }, { deadlineMs }));
    for (const { evaluations: listed } of await Promise.all(lists)) assert.equal(listed.length, 1000);
  },

  'requests of many values to every method': async ({ address }, t) => {
    const { call } = handMadeClient(t, address);
    const paths = [
      ...Object.values(EvaluationServiceService),
      ...Object.values(PluginServiceService),
      ...Object.values(AgentRegistryServiceService),
      ...Object.values(RegistryService),
    ].map(({ path }) => path);
    for (const path of paths) {
      const stream = call(path);
      stream.end(Buffer.concat([messagePrefix(MANY_VALUES.length), MANY_VALUES]));
      assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT, path);
    }
    const graphs = Buffer.alloc(60 * MIB, Uint8Array.of(0x1a, 0x00));
    const submitted = SubmitEvaluationRequest.encode({ evaluationId: 'evaluation-1', submission: undefined }).finish();
    const head = new BinaryWriter().raw(submitted).tag(2, WireType.LengthDelimited).uint32(graphs.length).finish();
    const stream = call(submitEvaluation.path);
    stream.end(Buffer.concat([messagePrefix(head.length + graphs.length), head, graphs]));
    assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT);
  },

  'as many models of agents as there may be, and those who list them': async ({ client }) => {
    const fill = async (): Promise<never> => {
      for (let port = 1; ; port++) {
        const agent = toWireAgent(offer({ address: `10.0.0.1:${port}`, models: await manyModels(port) }));
        await client.unary(registerAgent, { agent }, { deadlineMs });
      }
    };
    await assert.rejects(fill(), { code: 'exhausted' });
    const any = { frameworkName: '', frameworkVersion: '', modelName: '', modelVersion: '>=1.0.0' };
    const all = Array.from({ length: 3 }, () => [
      client.unary(listAgents, { pageSize: 0, pageToken: '' }, { deadlineMs }),
      client.unary(RegistryService.modelManifests, any, { deadlineMs }),
      client.unary(RegistryService.modelAgents, any, { deadlineMs }),
      client.unary(RegistryService.frameworkAgents, any, { deadlineMs }),
      client.unary(RegistryService.frameworkManifests, any, { deadlineMs }),
    ]);
    await Promise.all(all.flat());
  },
};

const checkHealth = healthService['Check'] as Method<object, { readonly status: string }> | undefined;

/** Asks for a server's health over and over. @returns what ends that, with how often it answered */
function watchHealth({ client }: Bombed): () => Promise<number> {
  let [isOver, answered] = [false, 0];
  const asking = (async () => {
    assert.ok(checkHealth);
    for (; !isOver; answered++) {
      assert.equal((await client.unary(checkHealth, { service: '' }, { deadlineMs })).status, 'SERVING');
      await setTimeout(5);
    }
    return answered;
  })();
  return () => {
    isOver = true;
    return asking;
  };
}

describe('the event loop of a server', { timeout: 600_000, skip: needsLinux }, () => {
  for (const [what, bomb] of Object.entries(BOMBS)) {
    it(`is never busy for long with ${what}`, async (t) => {
      const server = await bombed(t);
      await server.longestMs();
      const health = watchHealth(server);
      await bomb(server, t);
      assert.ok((await health()) > 0);
      const longestMs = await server.longestMs();
      assert.ok(longestMs < LONGEST_MS, `${longestMs} ms of processor time`);
    });
  }
});
