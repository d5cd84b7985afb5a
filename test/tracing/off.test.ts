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
    assert.match(
      stderr,
      /^warning: traces could not be exported \(.+\); check OTEL_EXPORTER_OTLP_ENDPOINT and its receiver$/m,
    );
  },
);

test('an invalid variable ends the command before it begins', deadline, async (t) => {
  const place = await workplace(t);
  const { code, stderr } = await place.run(['registry', 'agents'], { env: { OTEL_TRACES_EXPORTER: 'jaeger' } });
  assert.deepEqual([code, stderr.trim()], [2, 'OTEL_TRACES_EXPORTER: expected otlp, console, none, found jaeger']);
});
