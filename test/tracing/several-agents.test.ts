import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deadline, workplace } from '../cli/support/command.js';
import { chain, MANY_BRICKS, MANY_OPERATORS } from '../cli/support/tiny-models.js';
import { startTracingServer } from '../platform-documents/support/tracing-server.js';
import { until } from '../support/until.js';

const EVALUATION = JSON.stringify({
  ...MANY_BRICKS,
  protocol: { warmup_runs: 1, runs: 3, min_runs: 3 },
  agents: 'all',
});

const MEASURE = /BenchmarkService\/Measure$/;

describe('the trace of an evaluation that several agents measure', () => {
  test('is one, from the client to each of them', deadline, async (t) => {
    const place = await workplace(t);
    const tracing = await startTracingServer(t);
    const { env } = tracing;
    await place.write('many.onnx', chain(MANY_OPERATORS));
    const manifest = await place.write('evaluation.yml', EVALUATION);
    const server = place.start(['serve', '--listen', '127.0.0.1:0', '--plugins', 'dlbricks'], { env });
    const [, address = ''] = await server.said(/server listening on (\S+)/);
    const ports: number[] = [];
    for (const agent of [1, 2].map(() =>
      place.start(['agent', '--listen', '127.0.0.1:0', '--server', address], { env }),
    )) {
      ports.push(Number((await agent.said(/registered with \S+ as \S+:(\d+)/))[1]));
    }
    const ending = await place.run(['evaluate', manifest, '--server', address], { env });
    assert.equal(ending.code, 0, ending.stderr);
    const [, id = ''] = /^trace ([0-9a-f]{32})$/m.exec(ending.stderr) ?? [];
    // The ports of the plugin's calls that have a span of the called agent.
    const measuredAt = (): readonly number[] => {
      const own = tracing.spans.filter(({ traceId }) => traceId === id);
      const calls = own.filter(({ name, attributes }) => MEASURE.test(name) && attributes['server.port'] !== undefined);
      const answered = calls.filter(({ spanId }) =>
        own.some((span) => span.parentSpanId === spanId && MEASURE.test(span.name)),
      );
      return [...new Set(answered.map(({ attributes }) => Number(attributes['server.port'])))];
    };
    await until(() => measuredAt().length === 2);
    assert.deepEqual(measuredAt().toSorted(), ports.toSorted());
  });
});
