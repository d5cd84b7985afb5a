import { WorkItem } from '../../src/generated/mlmodelscope/work/v1/work.js';
import { itemIn } from '../../src/work/work-item.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateMessage } from '../mutate/message.js';
import { readOrRefused, type Target } from './target.js';

/** A message as agents find it in a queue, with a brick in a context and one alone. */
function sample(): Uint8Array {
  const inputs = [
    {
      name: 'w0',
      role: 1,
      elementType: 'float32',
      dims: [3n, 64n],
      low: -1,
      high: 1,
      seed: 7n,
      values: [],
      given: false,
    },
    { name: 'x0', role: 2, elementType: 'int64', dims: [1n], low: 0, high: 9, seed: 8n, values: [4, 5], given: true },
  ];
  const benchmark = { signature: 'ab'.repeat(32), model: Uint8Array.of(8, 10, 58, 0), inputs, weights: '' };
  const time = { seconds: 2n, nanos: 0 };
  const protocol = {
    warmupRuns: 3,
    runs: 50,
    minRuns: 5,
    timeBudget: time,
    timeLimit: time,
    memoryLimitBytes: 2n ** 30n,
    occasion: 1,
  };
  const runOptions = { threads: 2, executionProvider: 'cpu', optimizationLevel: 'all' };
  const settings = { executionMode: 'parallel', interOpThreads: 2, session: ['session.disable_prepacking=1'] };
  const request = {
    benchmark,
    runOptions: { ...runOptions, ...settings },
    protocol,
    footprintBytes: 2n ** 24n,
    modelBytes: 0n,
    roughMs: 0.5,
    replaces: '',
  };
  const alone = { ...request, footprintBytes: 0n, replaces: '2026-01-02T03:04:05.678Z' };
  const traceContext = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  return WorkItem.encode({
    version: 1,
    requests: [request, alone],
    wantedBy: 'batch 1',
    store: '',
    traceContext,
  }).finish();
}

/** Messages of queues, as the agents that serve them read them. */
export const workMessage: Target = {
  name: 'work-message',
  seeds: () => Promise.resolve([sample()]),
  mutate: (input, random) => (random.oneIn(10) ? mutateBytes : mutateMessage)(input, random),
  check: (input) => readOrRefused(() => itemIn(input), 'the message'),
};
