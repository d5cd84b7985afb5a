import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toWireAgent } from '../../src/directory/agent-wire.js';
import { connectEvaluations, type EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import { attachPlugin } from '../../src/evaluation/run/attach-plugin.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { EvaluationServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { createRpcClient, type RpcClient } from '../../src/rpc/client.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { temporaryFolder } from '../store/temporary-folder.js';
import { until } from '../support/until.js';
import { AGENT, fakeAgent, submission } from './fake-platform.js';
import type { Waiting } from './health-watch-process.js';

const SERVER = fileURLToPath(new URL('measured-server-process.js', import.meta.url));
const HEALTH_WATCH = fileURLToPath(new URL('health-watch-process.js', import.meta.url));

/** For a server that works for many clients at once. */
const deadlineMs = 300_000;

const { registerAgent, renewAgent } = AgentRegistryServiceService;
const { listPlugins } = EvaluationServiceService;

/** The time between two renewals of an agent. Its lease is longer. */
const RENEWAL_MS = 2000;

/** A server in a process of its own, as one of its clients sees it. */
export interface BusyServer {
  readonly address: string;
  readonly client: RpcClient;
  readonly evaluations: EvaluationClient;
  /** The name of the client's plugin, which also begins the ids of its evaluations. */
  readonly name: string;
  readonly idOf: (index: number) => string;
  /** An evaluation of one small model by the client's plugin. */
  readonly small: () => Submission;
  /** Attaches the client's plugin. */
  readonly attach: (evaluation: Evaluation) => Promise<void>;
}

export interface MeasuredServer {
  readonly clientOf: (name: string) => BusyServer;
  /** The longest time that its event loop was busy with one thing since the last call, in processor time. */
  readonly longestTurnMs: () => Promise<number>;
  /** Another process requests its health repeatedly. @returns a function that gives the waits so far */
  readonly watchHealth: () => Promise<() => Promise<Waiting>>;
}

/** Starts a server with one agent, which never answers. */
export async function measuredServer(t: TestContext): Promise<MeasuredServer> {
  const folder = join(await temporaryFolder(t), 'store');
  const child = fork(SERVER, [folder], { execArgv: [] });
  t.after(() => child.kill('SIGKILL'));
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  const stop = new AbortController();
  t.after(() => stop.abort());
  const connect = (): RpcClient => {
    const client = createRpcClient(address, 'server');
    t.after(() => client.close());
    return client;
  };

  const agents = connect();
  const { agentId } = await agents.unary(registerAgent, { agent: toWireAgent(AGENT), accessToken: '' }, { deadlineMs });
  const renewal = setInterval(() => {
    agents.unary(renewAgent, { agentId }, { deadlineMs }).catch(() => undefined);
  }, RENEWAL_MS);
  t.after(() => clearInterval(renewal));

  const clientOf = (name: string): BusyServer => {
    const client = connect();
    const evaluations = connectEvaluations(address);
    t.after(() => evaluations.close());
    return {
      address,
      client,
      evaluations,
      name,
      idOf: (index) => `${name}-${String(index).padStart(6, '0')}`,
      small: () => submission({ plugin: name }),
      attach: async (evaluation) => {
        const tools = { store: await openMemoryStore(), connect: () => Promise.resolve(fakeAgent()) };
        void attachPlugin({ ...evaluation, name }, address, tools, { signal: stop.signal });
        const isAttached = async (): Promise<boolean> => {
          const { plugins } = await client.unary(listPlugins, {}, { deadlineMs });
          return plugins.some((plugin) => plugin.name === name);
        };
        await until(isAttached);
      },
    };
  };

  const watchHealth = async (): Promise<() => Promise<Waiting>> => {
    const watching = fork(HEALTH_WATCH, [address, String(child.pid)], { execArgv: [] });
    t.after(() => watching.kill('SIGKILL'));
    await once(watching, 'message');
    return async () => {
      watching.send({});
      const [waiting] = (await once(watching, 'message')) as [Waiting];
      return waiting;
    };
  };

  const longestTurnMs = async (): Promise<number> => {
    child.send({});
    const [{ longestMs }] = (await once(child, 'message')) as [{ longestMs: number }];
    return longestMs;
  };
  return { clientOf, longestTurnMs, watchHealth };
}
