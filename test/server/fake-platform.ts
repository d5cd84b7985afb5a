import { createFakeAgent, type FakeAgent } from '../support/fake-agent.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import type { PlatformEvent } from '../../src/evaluation/event.js';
import type { EvaluationLeases } from '../../src/server/jobs.js';
import { SubmissionLoader } from '../../src/server/loading/submission-loader.js';
import { Platform, type PlatformOptions } from '../../src/server/platform.js';
import type { PluginTools } from '../../src/evaluation/run/run-evaluation.js';
import { servePlugin } from '../../src/evaluation/run/serve-plugin.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { encodeSubmission } from '../../src/evaluation/wire/submission-wire.js';
import { createDirectory, type AgentDirectory } from '../../src/directory/agent-directory.js';
import { newHolder } from '../../src/store/leases/leases.js';
import type { ResultStore } from '../../src/store/result-store.js';
import { chain, FOUR_LAYERS } from '../cli/support/tiny-models.js';
import { until } from '../support/until.js';
import { memoryLink } from './memory-link.js';
import { patient } from './scripted-evaluation.js';

export const AGENT = {
  address: '127.0.0.1:7070',
  tls: false,
  hostname: 'here',
  framework: 'fake',
  frameworkVersion: '1.0.0',
  architecture: 'x64',
  processor: 'fake processor',
  operatingSystem: 'Linux 6.1',
  cores: 4,
  memoryBytes: 16 * 2 ** 30,
  models: [],
};

/** A directory of agents that stay without renewing. */
export function directoryWith(...addresses: readonly string[]): AgentDirectory {
  const directory = createDirectory({ leaseMs: Infinity });
  for (const address of addresses) directory.register({ ...AGENT, address });
  return directory;
}

/** An agent for which everything takes a millisecond. */
export function fakeAgent(): FakeAgent {
  return createFakeAgent({ latencyOf: () => 1 });
}

/** An evaluation of one model with four layers. JSON is YAML. */
export function submission(changes: Readonly<Record<string, unknown>> = {}): Submission {
  const manifest = {
    dlspec: 'evaluation/v1',
    name: 'tiny',
    version: '1.0.0',
    plugin: 'fake',
    models: ['four.onnx'],
    protocol: { warmup_runs: 1, runs: 3, min_runs: 1 },
    ...changes,
  };
  const files = new Map([
    ['tiny.yml', Buffer.from(JSON.stringify(manifest))],
    ['four.onnx', chain(FOUR_LAYERS)],
  ]);
  return { manifestPath: 'tiny.yml', files, graphs: new Map() };
}

/** The same submission, encoded for sending. */
export function submitted(changes: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return encodeSubmission(submission(changes));
}

/** A platform with plugins in this process. */
export interface FakePlatform {
  readonly platform: Platform;
  /** See {@link attachPlugin}. */
  readonly attach: (evaluation: Evaluation, connect?: PluginTools['connect']) => () => void;
}

class EveryName extends Set<string> {
  override has(): boolean {
    return true;
  }
}

/** Of the only server that uses a store. */
export const SOLE_LEASES: EvaluationLeases = {
  take: () => Promise.resolve(new Map()),
  held: () => Promise.resolve(new EveryName()),
  release: () => Promise.resolve(),
};

/** What a server takes that gets none of the evaluations: another server has them. */
export function takenByAnother(ids: readonly string[]): ReturnType<EvaluationLeases['take']> {
  return Promise.resolve(new Map(ids.map((id) => [id, newHolder()])));
}

/** Attaches a plugin in this process. @returns a function that detaches it, as if its process had been killed */
export function attachPlugin(
  platform: Platform,
  store: ResultStore,
  evaluation: Evaluation,
  connect: PluginTools['connect'] = () => Promise.resolve(fakeAgent()),
): () => void {
  const link = memoryLink();
  void platform.attach(link.platform);
  void servePlugin(evaluation, link.plugin, { store, connect });
  return () => link.plugin.close();
}

/** Of all servers and platforms of a process: its threads take longer to start than most tests take. */
export const LOADER = new SubmissionLoader();

export async function openPlatform(
  options: Pick<PlatformOptions, 'store'> & Partial<PlatformOptions>,
  { resume = false } = {},
): Promise<FakePlatform> {
  const defaults = { agents: directoryWith(AGENT.address), leases: SOLE_LEASES, loader: LOADER };
  const platform = await Platform.open({ ...defaults, ...options }, { resume });
  return { platform, attach: (...plugin) => attachPlugin(platform, options.store, ...plugin) };
}

/** Starts an evaluation and closes the platform in the middle of it, like a server that ends. */
export async function leaveAtWork(store: ResultStore, id: string, submitting = submitted()): Promise<void> {
  const { platform, attach } = await openPlatform({ store });
  attach(patient);
  await platform.submit(id, submitting);
  await until(async () => (await platform.get(id)).last?.event.kind === 'note');
  platform.close();
}

const forever = new AbortController().signal;

/** Everything that happens to an evaluation until its end, the result included. */
export async function eventsOf(platform: Platform, id: string): Promise<readonly PlatformEvent[]> {
  const events: PlatformEvent[] = [];
  for await (const logged of platform.follow(id, 0, forever)) {
    const { event } = logged;
    if (event.kind !== 'done') {
      events.push(event);
      continue;
    }
    const { json, close } = await platform.openResult(id, logged);
    events.push({ ...event, resultJson: json?.toString() });
    close();
  }
  return events;
}
