import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadline, MAIN, workplace } from '../cli/support/command.js';
import { spawnSync } from 'node:child_process';

const LOADED = new URL('./support/print-loaded.js', import.meta.url).href;

function loadedBy(env: Readonly<Record<string, string | undefined>>): number {
  const args = ['--import', LOADED, MAIN, 'registry', 'agents'];
  const { stderr } = spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
  return Number(/loaded (\d+)/.exec(stderr)?.[1]);
}

const WARNING = /^warning: traces could not be exported \(.+\); check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver$/m;

const NOTHING = {
  OTEL_TRACES_EXPORTER: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: undefined,
};

test('without OTEL_* variables nothing of OpenTelemetry is loaded', deadline, () => {
  assert.equal(loadedBy(NOTHING), 0);
  // The same check of a command that does load it.
  assert.ok(loadedBy({ ...NOTHING, OTEL_TRACES_EXPORTER: 'none' }) > 10);
});

test(
  'a missing receiver is reported in a warning, and the command is as successful as without',
  deadline,
  async (t) => {
    const place = await workplace(t);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const { code, stderr } = await place.run(['registry', 'agents'], { env });
    assert.equal(code, 0);
    assert.match(stderr, WARNING);
    assert.equal(stderr.split('could not be exported').length - 1, 1, stderr);
  },
);

test('a server without a receiver warns once, soon after the first export', deadline, async (t) => {
  const place = await workplace(t);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  const server = place.start(['serve', '--listen', '127.0.0.1:0', '--no-plugins'], { env });
  const [, address = ''] = await server.said(/server listening on (\S+)/);
  const call = () => {
    return place.run(['registry', 'agents', '--server', address], { env: { OTEL_TRACES_EXPORTER: 'none' } });
  };
  await call();
  await server.said(WARNING);
  // Its spans are exported as well, at the latest when the server ends.
  await call();
  server.process.kill('SIGINT');
  const { stderr } = await server.ended;
  assert.equal(stderr.split('could not be exported').length - 1, 1, stderr);
});

test('an invalid variable ends the command before it begins', deadline, async (t) => {
  const place = await workplace(t);
  const { code, stderr } = await place.run(['registry', 'agents'], { env: { OTEL_TRACES_EXPORTER: 'jaeger' } });
  assert.deepEqual([code, stderr.trim()], [2, 'OTEL_TRACES_EXPORTER: expected otlp, console, none, found jaeger']);
});
