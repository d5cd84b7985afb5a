import { Connection } from 'rabbitmq-client';
import { setTimeout } from 'node:timers/promises';
import type { Random } from '../../fuzz/random.js';
import { connectEvaluations } from '../../src/evaluation/client/evaluation-client.js';
import { computeClass } from '../../src/measurement/system.js';
import { openStore } from '../../src/store/open-store.js';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { encodeItem } from '../../src/work/work-item.js';
import { needsRabbitMq, startRabbitMq } from '../../test/work/amqp/rabbitmq-process.js';
import { sampleRequests } from '../../test/work/sample-requests.js';
import type { Running } from '../../test/cli/support/command.js';
import { assertEndsOnce } from '../checks/ends-once.js';
import { assertNoOrphan } from '../checks/no-orphan.js';
import { withWholeStore } from '../checks/store.js';
import { followed, startServer, submissionIn } from '../place/platform.js';
import { moment, type Round, soon } from '../place/round.js';
import type { Target } from './target.js';

const ID = 'evaluation-1';
const AGENTS = 3;

interface QueuedAgents {
  readonly uri: string;
  readonly system: string;
  readonly address: string;
  readonly agents: Map<string, Running>;
  readonly server: Running;
}

async function platformIn(round: Round): Promise<QueuedAgents> {
  const { place } = round;
  const { uri } = await startRabbitMq(round);
  const env = { MLMODELSCOPE_QUEUE: uri, MLMODELSCOPE_STORE: place.store };
  const { server, address } = await startServer(place, '127.0.0.1:0', { env });
  const agents = new Map<string, Running>();
  for (let i = 0; i < AGENTS; i++) {
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', address], { env });
    const [, at = ''] = await agent.said(/agent listening on (\S+)/);
    agents.set(at, agent);
  }
  for (const agent of agents.values()) {
    await agent.said(/registered with/);
    await agent.said(/takes work for systems/);
  }
  const [first = ''] = agents.keys();
  const client = await connectAgent(first);
  const system = computeClass(client.description);
  await client.close();
  return { uri, system, address, agents, server };
}

/** Messages that nobody can measure: of any bytes, and work whose bricks' models are no ONNX files. */
function poison(random: Random): readonly Uint8Array[] {
  const any = Uint8Array.from({ length: random.below(300) }, () => random.below(256));
  const [request] = sampleRequests(1);
  if (request === undefined) throw new Error('no sample');
  const garbled = { ...request, benchmark: { ...request.benchmark, model: Uint8Array.from([...any, 7]) } };
  const work = encodeItem({
    requests: [{ request: garbled, replaces: undefined }],
    wantedBy: undefined,
    traceContext: {},
  });
  return [any, work, work.subarray(0, random.below(work.length))];
}

async function publish(uri: string, system: string, messages: readonly Uint8Array[]): Promise<void> {
  const client = new Connection(uri);
  client.on('error', () => undefined);
  const publisher = client.createPublisher({ confirm: true });
  for (const message of messages) {
    await publisher.send({ routingKey: `mlmodelscope.work.${system}`, durable: true }, Buffer.from(message));
  }
  await publisher.close();
  await client.close();
}

/**
 * Runs an evaluation with a queue. `disturb` disturbs it; then the evaluation has to end complete, and every agent that
 * was not killed has to serve.
 */
async function disturbed(round: Round, disturb: (queued: QueuedAgents) => Promise<void>): Promise<void> {
  const queued = await platformIn(round);
  const client = connectEvaluations(queued.address);
  round.after(() => client.close());
  await client.submit(ID, await submissionIn(round));
  const story = followed(client, ID);
  story.catch(() => undefined);
  await disturb(queued);
  assertEndsOnce(await story);
  for (const [at, { process, ended }] of queued.agents) {
    if (process.exitCode === null) continue;
    const { code, stderr } = await ended;
    throw new Error(`the agent at ${at} ended by itself with ${code}: ${stderr}`);
  }
  for (const { process } of [queued.server, ...queued.agents.values()]) process.kill('SIGTERM');
  await assertNoOrphan(round.place);
  await withWholeStore(openStore.bind(undefined, round.place.store), () => Promise.resolve());
}

const missing = (): string | undefined => (needsRabbitMq.skip === false ? undefined : 'RabbitMQ');

/** Puts messages into a queue that cannot be measured, while agents work. */
export const poisonedQueue: Target = {
  name: 'queue-poison',
  share: 2,
  missing,
  run: (round) =>
    disturbed(round, async ({ uri, system }) => {
      for (let times = 0; times < 3; times++) {
        await setTimeout(round.random.below(round.commandMs));
        await publish(uri, system, poison(round.random));
      }
    }),
};

/** Kills the agent that the server has chosen for an evaluation with a queue; others finish it. */
export const chosenAgent: Target = {
  name: 'chosen-agent',
  share: 2,
  missing,
  run: (round) =>
    disturbed(round, async ({ address, agents }) => {
      const client = connectEvaluations(address);
      round.after(() => client.close());
      let chosen: string | undefined;
      await soon(
        async () => {
          const log = client.follow(ID, 0);
          for await (const { event } of log) {
            if (event.kind === 'started') chosen = event.agent;
            if (event.kind === 'started') break;
          }
          return chosen !== undefined;
        },
        () => 'the evaluation does not start',
      );
      await moment(round);
      const agent = agents.get(chosen ?? '');
      if (agent === undefined) throw new Error(`an agent at ${chosen} was chosen, which is none of the round`);
      agents.delete(chosen ?? '');
      agent.process.kill('SIGKILL');
      await agent.ended;
    }),
};
