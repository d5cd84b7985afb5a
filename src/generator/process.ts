// A process of its own, so that neither a runtime that blocks its thread nor a progress bar delays its timers.
import { execFileSync } from 'node:child_process';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import type { MeasureProgress } from '../agent/benchmark-agent.js';
import { connectServing, nowMs, type Serving } from '../agent/client/serving-client.js';
import { useLastCore } from '../base/core-affinity.js';
import { messageOf, PlatformError } from '../base/errors.js';
import { realClock, timerMarginMs } from '../load/clock.js';
import { type QueryRecord, Trial, type TrialOptions, type TrialOutcome } from '../load/trial.js';
import { Outstanding } from './outstanding.js';
import type { FromGenerator, TargetSpec, ToGenerator } from './messages.js';

const RECORDS_AT_ONCE = 1000;

const CHRT_LIMIT_MS = 5000;

/** Longest time without an answer. */
const ANSWER_LIMIT_MS = 60_000;
const ANSWER_CHECK_MS = 1000;

/** Some queries of a trial that ended early may be left. */
const CLOSE_LIMIT_MS = 30_000;
const INTERRUPTED_CLOSE_LIMIT_MS = 2000;

/** So that connections and code are warm. */
const WARMUP_QUERIES = 5;

// A terminal's Ctrl-C reaches the whole process group. The parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGTSTP'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.exit());

// A busy machine wakes an ordinary process up to two ticks late.
try {
  const first = ['--reset-on-fork', '--rr', '--pid', '1', String(process.pid)];
  execFileSync('chrt', first, { stdio: 'ignore', timeout: CHRT_LIMIT_MS });
} catch {
  // Lateness is reported.
}
useLastCore();

let clock = realClock(nowMs);
let targets: readonly Serving[] = [];
const outstanding = new Outstanding({ now: nowMs });
let running: Trial | undefined;
let closeLimitMs = CLOSE_LIMIT_MS;

function send(message: FromGenerator): void {
  // A failure to send means that the parent has ended, which ends this process.
  process.send?.(message, undefined, {}, () => undefined);
}

async function openTarget(spec: TargetSpec): Promise<Serving> {
  if (spec.kind === 'oip') return (await import('./targets/open-inference.js')).openInferenceTarget(spec);
  if (spec.kind === 'predict') return (await import('./targets/predict.js')).predictTarget(spec);
  const { address, options } = spec.reach;
  const onProgress = (progress: MeasureProgress): void => send({ kind: 'progress', progress });
  return connectServing(address, spec.request, { client: options, onProgress });
}

function run(options: TrialOptions, onRecord: (record: QueryRecord) => void): Promise<TrialOutcome> {
  return new Promise((resolve) => {
    const all = targets.map(({ target }) => outstanding.countedTarget(target));
    const trial = new Trial(options, all, clock, onRecord, (outcome) => {
      clearInterval(watch);
      resolve(outcome);
    });
    const watch = setInterval(() => {
      if (outstanding.silentMs < ANSWER_LIMIT_MS) return;
      trial.fail(`no query was answered in ${ANSWER_LIMIT_MS / 1000} s; queries that wait: ${outstanding.count}`);
    }, ANSWER_CHECK_MS);
    running = trial;
    // Queries of a trial that ended early would keep those of the next one waiting. The first query may be due at once,
    // so the clock starts a moment later.
    outstanding.whenIdle(() => trial.start(clock.now() + 5));
  });
}

const READY_LIMIT_MS = 120_000;

/** Agents on one machine would wait for each other's turn for ever. */
function inTime(opening: readonly Promise<Serving>[]): readonly Promise<Serving>[] {
  let tooLate = (_error: PlatformError): void => undefined;
  const late = new Promise<never>((_resolve, reject) => (tooLate = reject));
  late.catch(() => undefined);
  const problem = `one agent is ready, and another one is not after ${READY_LIMIT_MS / 1000} s`;
  const error = new PlatformError(
    'unavailable',
    `${problem}; do both run on one machine, or does another process measure there?`,
  );
  void Promise.any(opening).then(
    () => setTimeout(() => tooLate(error), READY_LIMIT_MS),
    () => undefined,
  );
  return opening.map((one) => Promise.race([one, late]));
}

/** The largest of all servers' clocks since the last reading. */
async function readDriftMs(): Promise<number> {
  const drifts = await Promise.all(targets.map((target) => target.readDriftMs?.() ?? Promise.resolve(0)));
  return drifts.reduce((most, drift) => (Math.abs(drift) > Math.abs(most) ? drift : most), 0);
}

async function open(specs: readonly TargetSpec[], samples: number): Promise<void> {
  const opened = await Promise.allSettled(inTime(specs.map(openTarget)));
  clock = realClock(nowMs, await timerMarginMs(nowMs));
  targets = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = opened.find((one) => one.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
  const clients = targets.length;
  const plan = {
    kind: 'closed',
    clients,
    thinkMs: [0],
    samples,
    queries: WARMUP_QUERIES * clients,
    leastMs: 0,
  } as const;
  const { end } = await run({ plan, dispatch: 'turns', seed: 1, limit: samples }, () => undefined);
  if (end.kind === 'failed' || end.kind === 'cut') throw new PlatformError('unavailable', end.reason);
  // One server may have waited long for another one.
  await readDriftMs();
  send({ kind: 'open' });
}

async function trial(options: TrialOptions): Promise<void> {
  let records: QueryRecord[] = [];
  const outcome = await run(options, (record) => {
    records.push(record);
    if (records.length < RECORDS_AT_ONCE) return;
    send({ kind: 'records', records });
    records = [];
  });
  send({ kind: 'records', records });
  const isAnswering = outcome.end.kind === 'complete' || outcome.end.kind === 'cut';
  const clockDriftMs = isAnswering ? await readDriftMs().catch(() => undefined) : undefined;
  send({ kind: 'ended', outcome: { ...outcome, clockDriftMs } });
}

async function handle(message: ToGenerator): Promise<void> {
  switch (message.kind) {
    case 'open':
      await open(message.targets, message.warmupSamples);
      return;
    case 'trial':
      await trial(message.options);
      return;
    case 'cancel':
      closeLimitMs = INTERRUPTED_CLOSE_LIMIT_MS;
      running?.cancel();
      return;
    case 'close': {
      const closed = Promise.all(targets.map((target) => target.close()));
      send({ kind: 'closed', ends: await Promise.race([closed, setTimeoutPromise(closeLimitMs, [])]) });
    }
  }
}

process.on('message', (message: ToGenerator) => {
  handle(message).catch((error: unknown) => {
    const code = error instanceof PlatformError ? error.code : 'internal';
    send({ kind: 'error', code, message: messageOf(error) });
  });
});
