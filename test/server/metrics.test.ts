import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { PLATFORM_VERSION } from '../../src/base/platform-version.js';
import type { EventStreams } from '../../src/server/http/events.js';
import { Metrics } from '../../src/server/http/metrics.js';
import type { WebSources } from '../../src/server/http/site-data.js';

test('the metrics of a server are lines that Prometheus reads', (t) => {
  const histogram = Object.getPrototypeOf(monitorEventLoopDelay()) as ReturnType<typeof monitorEventLoopDelay>;
  t.mock.method(histogram, 'percentile', (percent: number) => percent * 1e9);
  const platform = {
    plugins: () => [{ name: 'a "b"\n', version: '1\\2', running: 2 }],
    working: () => [{}],
    jobs: 4,
  };
  const sources = { platform, agents: { list: () => [{}, {}, {}] } } as unknown as WebSources;
  const metrics = new Metrics(sources, { open: 5 } as EventStreams);
  t.after(() => metrics.close());
  for (const status of [200, 204, 404, 599]) metrics.count(status);
  const lines = metrics.text().split('\n');
  assert.equal(lines.at(-1), '');
  const values = lines.filter((line) => !line.startsWith('#') && !/^process_|^$/.test(line));
  assert.deepEqual(values, [
    `mlmodelscope_info{version="${PLATFORM_VERSION}"} 1`,
    'mlmodelscope_evaluations{state="running"} 1',
    'mlmodelscope_evaluations{state="waiting"} 3',
    'mlmodelscope_agents 3',
    'mlmodelscope_plugin_evaluations{plugin="a \\"b\\"\\n",version="1\\\\2",number="0"} 2',
    'mlmodelscope_followers 5',
    'mlmodelscope_http_requests_total{code="2xx"} 2',
    'mlmodelscope_http_requests_total{code="4xx"} 1',
    'mlmodelscope_http_requests_total{code="5xx"} 1',
    'mlmodelscope_event_loop_delay_p99_seconds 99',
  ]);
  assert.deepEqual(
    lines.flatMap((line) => (line.startsWith('# TYPE') ? [line.slice('# TYPE '.length)] : [])),
    [
      'mlmodelscope_info gauge',
      'mlmodelscope_evaluations gauge',
      'mlmodelscope_agents gauge',
      'mlmodelscope_plugin_evaluations gauge',
      'mlmodelscope_followers gauge',
      'mlmodelscope_http_requests_total counter',
      'mlmodelscope_event_loop_delay_p99_seconds gauge',
      'process_resident_memory_bytes gauge',
      'process_cpu_seconds_total counter',
    ],
  );
  const { user, system } = process.cpuUsage();
  const valueOf = (name: string): number => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  const seconds = valueOf('process_cpu_seconds_total');
  assert.ok(seconds > 0 && seconds <= (user + system) / 1e6, `${seconds} s of processor time`);
  assert.ok(valueOf('process_resident_memory_bytes') > 2 ** 20);
  platform.jobs = 0;
  assert.match(metrics.text(), /^mlmodelscope_evaluations\{state="waiting"\} 0$/m);
  assert.deepEqual(lines.slice(0, 2), [
    '# HELP mlmodelscope_info Version of the server.',
    '# TYPE mlmodelscope_info gauge',
  ]);
});
