// Requests that keep a server busy, and that any client may send.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AgentOffer } from '../../src/directory/agent-offer.js';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { PlatformError } from '../../src/base/errors.js';
import type { EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import { MAX_RESULT_BYTES } from '../../src/evaluation/event.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import {
  EvaluationServiceService,
  FollowEvaluationRequest,
  SubmitEvaluationRequest,
} from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { PluginServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { platformModels } from '../directory/support/models.js';
import { offer } from '../directory/support/offer.js';
import { floats, model, node, value } from '../onnx/protos.js';
import { handMadeClient, MANY_VALUES, messagePrefix } from '../rpc/support/hostile.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { copies, doubling, emptyNodes, nested, refused } from './bombs.js';
import type { BusyServer } from './busy-server.js';
import { DONE, obedient, scripted } from './scripted-evaluation.js';

const MIB = 2 ** 20;

/** For a server that works for many clients at once. */
const deadlineMs = 300_000;

const { registerAgent, listAgents } = AgentRegistryServiceService;
const { followEvaluation, getEvaluation, listEvaluations, submitEvaluation } = EvaluationServiceService;

async function toTheEnd(evaluations: EvaluationClient, id: string): Promise<string> {
  let last = '';
  for await (const { event } of evaluations.follow(id, 0)) {
    last = event.kind === 'failed' ? `failed: ${event.message}` : event.kind;
  }
  return last;
}

/**
 * Submits an evaluation. A busy server may give up a large request that arrives slowly; the request is then repeated.
 */
async function submit(evaluations: EvaluationClient, id: string, submission: Submission): Promise<void> {
  for (;;) {
    try {
      await evaluations.submit(id, submission);
      return;
    } catch (error) {
      if (!(error instanceof PlatformError) || error.code !== 'timeout') throw error;
    }
  }
}

/** Weights of a model: each becomes an input of many values. A submission may have 524,288 values. */
const WEIGHTS = 20_000;

/** Events of an evaluation. Each waits for the disk; the limit is 10,000. */
const EVENTS = 1000;

function largest(): Uint8Array {
  const dims = [1, 200];
  const nameOf = (i: number): string => (i === 0 ? 'x' : i === WEIGHTS ? 'y' : `v${i}`);
  return model({
    input: [value('x', dims)],
    output: [value('y', dims)],
    initializer: Array.from({ length: WEIGHTS }, (_, i) => floats(`w${i}`, Array<number>(200).fill(1), dims)),
    node: Array.from({ length: WEIGHTS }, (_, i) => node('Add', [nameOf(i), `w${i}`], [nameOf(i + 1)])),
  });
}

// Made before any bomb starts: seconds of work in the client would keep its plugins from renewing their leases.
const LARGEST = largest();
const DOUBLING = doubling(16);
const ENDLESS = doubling(40);
const NESTED = nested(28, 20_000);
const LARGE_AND_NESTED = nested(28, 400_000);
/** As many as a file may have: reading them takes about a second. */
const EMPTY_NODES = emptyNodes(MIB);

/** Different models of an agent. They are small, so that an agent may offer many of them. */
async function manyModels(agent: number): Promise<AgentOffer['models']> {
  const [some = assert.fail()] = await platformModels();
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

function framed(message: Uint8Array): Buffer {
  return Buffer.concat([messagePrefix(message.length), message]);
}

/** Prepares a bomb. The resulting function keeps the server busy until its promise resolves. */
type Bomb = (server: BusyServer, t: TestContext) => Promise<() => Promise<void>>;

/** All bombs by their descriptions. */
export const BUSY_BOMBS: Readonly<Record<string, Bomb>> = {
  'submissions with doubling functions, with nested Ifs, and with empty nodes': async (server) => {
    const { evaluations, attach, idOf, name: plugin } = server;
    await attach(scripted(async function* () {}));
    const bombs = [
      copies(DOUBLING, 60, { plugin }),
      copies(ENDLESS, 1, { plugin }),
      refused(NESTED, 1, { plugin }),
      refused(LARGE_AND_NESTED, 1, { plugin }),
      copies(EMPTY_NODES, 1, { plugin }),
    ];
    return async () => {
      const submitted = bombs.map((bomb, i) => evaluations.submit(idOf(i), bomb));
      const settled = await Promise.allSettled(submitted);
      assert.ok(settled.every(({ status }) => status === 'rejected'));
    };
  },

  'a submission and a result of the largest allowed sizes': async (server) => {
    const { client, evaluations, attach, idOf, name } = server;
    const result = Array.from({ length: MAX_RESULT_BYTES / 4 }, () => 12);
    await attach(
      scripted(async function* () {
        yield await Promise.resolve({ kind: 'done', result, partial: false });
      }),
    );
    return async () => {
      await submit(evaluations, idOf(1), copies(LARGEST, 1, { plugin: name }));
      assert.equal(await toTheEnd(evaluations, idOf(1)), 'done');
      const request = { evaluationId: idOf(1), withoutResult: false };
      // At most 64 MiB of answers may wait on one connection.
      const asked = Array.from({ length: 5 }, () => client.unary(getEvaluation, request, { deadlineMs }));
      for (const { lastEvent } of await Promise.all(asked)) assert.equal(lastEvent?.event?.$case, 'done');
    };
  },

  'three hundred readers of a large result who never read': async (server, t) => {
    const { address, evaluations, attach, idOf, small } = server;
    const result = 'x'.repeat(11_500_000);
    await attach(
      scripted(async function* () {
        yield await Promise.resolve({ kind: 'done', result, partial: false });
      }),
    );
    await submit(evaluations, idOf(1), small());
    assert.equal(await toTheEnd(evaluations, idOf(1)), 'done');
    return async () => {
      for (let client = 0; client < 10; client++) {
        const request = { evaluationId: idOf(1), afterSequence: 0n, resultInParts: client >= 7 };
        const { call } = handMadeClient(t, address, { reads: false });
        const asked = framed(FollowEvaluationRequest.encode(request).finish());
        for (let i = 0; i < 30; i++) call(followEvaluation.path).end(asked);
      }
      assert.equal(await toTheEnd(evaluations, idOf(1)), 'done');
    };
  },

  'an evaluation of many events, and clients that read it': async ({ evaluations, attach, idOf, small }) => {
    await attach(
      scripted(async function* () {
        for (let i = 0; i < EVENTS; i++) yield await Promise.resolve({ kind: 'note', level: 'info', message: `${i}` });
        yield DONE;
      }),
    );
    return async () => {
      await submit(evaluations, idOf(1), small());
      for (let i = 0; i < 3; i++) assert.equal(await toTheEnd(evaluations, idOf(1)), 'done');
    };
  },

  'a thousand evaluations, and clients that list them': async ({ client, evaluations, attach, idOf, small }) => {
    await attach(obedient);
    const ids = Array.from({ length: 1000 }, (_, i) => idOf(i));
    return async () => {
      for (let i = 0; i < ids.length; i += 50) {
        await Promise.all(ids.slice(i, i + 50).map((id) => submit(evaluations, id, small())));
      }
      const lists = Array.from({ length: 20 }, () => client.unary(listEvaluations, { pageSize: 1000 }, { deadlineMs }));
      for (const { evaluations: listed } of await Promise.all(lists)) assert.equal(listed.length, 1000);
    };
  },

  'the first request to reflection, which reads the contract': ({ address }, t) => {
    const { call } = handMadeClient(t, address);
    return Promise.resolve(async () => {
      const stream = call('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo');
      // list_services, field 7, of any host.
      stream.end(framed(Uint8Array.of(0x3a, 0x00)));
      assert.equal((await stream.ended).grpcStatus, status.OK);
    });
  },

  'requests of many values to every method': ({ address, idOf }, t) => {
    const { call } = handMadeClient(t, address);
    const paths = [
      ...Object.values(EvaluationServiceService),
      ...Object.values(PluginServiceService),
      ...Object.values(AgentRegistryServiceService),
      ...Object.values(RegistryService),
    ].map(({ path }) => path);
    const graphs = Buffer.alloc(60 * MIB, Uint8Array.of(0x1a, 0x00));
    const submitted = SubmitEvaluationRequest.encode({ evaluationId: idOf(1), submission: undefined }).finish();
    const head = new BinaryWriter().raw(submitted).tag(2, WireType.LengthDelimited).uint32(graphs.length).finish();
    return Promise.resolve(async () => {
      for (const path of paths) {
        const stream = call(path);
        stream.end(framed(MANY_VALUES));
        assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT, path);
      }
      const stream = call(submitEvaluation.path);
      stream.end(framed(Buffer.concat([head, graphs])));
      assert.equal((await stream.ended).grpcStatus, status.INVALID_ARGUMENT);
    });
  },

  'agents with four megabytes of models each': async ({ client }) => {
    const [some = assert.fail()] = await platformModels();
    const models = Array.from({ length: 1000 }, (_, i) => ({ ...some, name: `m${i}`, description: 'x'.repeat(3500) }));
    return async () => {
      for (let port = 1; port <= 20; port++) {
        const agent = toWireAgent(offer({ address: `10.0.0.2:${port}`, models }));
        await assertRefused(client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs }), 'usage');
      }
    };
  },

  'the largest allowed number of models of agents, and clients that list them': ({ client }) => {
    const register = async (port: number): Promise<void> => {
      const agent = toWireAgent(offer({ address: `10.0.0.1:${port}`, models: await manyModels(port) }));
      await client.unary(registerAgent, { agent, accessToken: '' }, { deadlineMs });
    };
    // The loop is bounded: if registering takes longer than a lease, there is always room for another agent.
    const fill = async (): Promise<void> => {
      for (let first = 1; first < 1000; first += 10) {
        await Promise.all(Array.from({ length: 10 }, (_, i) => register(first + i)));
      }
    };
    return Promise.resolve(async () => {
      await assertRefused(fill(), 'exhausted');
      const any = { frameworkName: '', frameworkVersion: '', modelName: '', modelVersion: '>=1.0.0' };
      const all = Array.from({ length: 3 }, () => [
        client.unary(listAgents, { pageSize: 0, pageToken: '' }, { deadlineMs }),
        client.unary(RegistryService.modelManifests, any, { deadlineMs }),
        client.unary(RegistryService.modelAgents, any, { deadlineMs }),
        client.unary(RegistryService.frameworkAgents, any, { deadlineMs }),
        client.unary(RegistryService.frameworkManifests, any, { deadlineMs }),
      ]);
      await Promise.all(all.flat());
    });
  },
};
