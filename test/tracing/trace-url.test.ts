import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collect } from '../../src/base/collect.js';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from '../../src/platform-documents/documents.js';
import { openEmbeddedStore } from '../../src/store/embedded/open.js';
import { isTraceUrlTemplate } from '../../src/tracing/trace-url.js';
import { deadline, workplace, type Workplace } from '../cli/support/command.js';
import { chain, QUICK } from '../cli/support/tiny-models.js';
import { workplaceHere } from '../cli/support/workplace-here.js';
import { startTracingServer } from '../platform-documents/support/tracing-server.js';

async function traceUrls({ store: folder }: Workplace): Promise<readonly string[]> {
  const store = await openEmbeddedStore(folder, {});
  try {
    assert.equal((await collect(store.collection(EVALUATION_DOCUMENTS).find({}))).length, 1);
    return (await collect(store.collection(PERFORMANCE_DOCUMENTS).find({}))).map(({ trace_url }) => trace_url);
  } finally {
    await store.close();
  }
}

describe('addresses of traces', { ...deadline, concurrency: 2 }, () => {
  test('need a placeholder for the id, and http', () => {
    assert(isTraceUrlTemplate('http://jaeger:16686/api/traces/{trace_id}?raw=true'));
    for (const text of [
      '',
      'http://jaeger:16686/api/traces/',
      'file:///{trace_id}',
      '{trace_id}',
      'http://a b/{trace_id}',
    ])
      assert(!isTraceUrlTemplate(text), text);
  });

  test('are those of the manifest, of the option, or of the configuration', async (t) => {
    const server = await startTracingServer(t);
    const wanted = (host: string): string => `http://${host}/{trace_id}`;
    const place = await workplace(t);
    await place.write('tiny.onnx', chain(['Relu']));
    const evaluation = (key: string): string => `
dlspec: evaluation/v1
name: tiny
version: 1.0.0
plugin: latency
models: [tiny.onnx]
settings: { remeasure: none }
protocol: { warmup_runs: 1, runs: 3 }
${key}
`;
    const plain = await place.write('plain.yml', evaluation(''));
    const named = await place.write('named.yml', evaluation(`trace_url_template: '${wanted('manifest')}'`));
    const configuration = await place.write('config.yml', `trace_url_template: '${wanted('configuration')}'\n`);
    const urls: string[] = [];
    const evaluate = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> => {
      const ending = await place.run(['evaluate', ...args], { env: { ...server.env, ...env } });
      assert.equal(ending.code, 0, ending.stderr);
      urls.push(...(await traceUrls(place)));
    };
    await evaluate([plain]);
    await evaluate([plain], { MLMODELSCOPE_CONFIG: configuration });
    await evaluate([plain, '--trace-url-template', wanted('option')], { MLMODELSCOPE_CONFIG: configuration });
    await evaluate([named, '--trace-url-template', wanted('option')]);
    assert.deepEqual(
      urls.map((url) => url.replace(/[0-9a-f]{32}$/, 'ID')),
      ['', 'http://configuration/ID', 'http://option/ID', 'http://manifest/ID'],
    );
    const [, id = ''] = /([0-9a-f]{32})$/.exec(urls[1] ?? '') ?? [];
    assert(server.spans.some(({ traceId, name }) => traceId === id && name === 'c_predict'));
  });

  test('without effect cause a warning, and wrong ones are refused', async (t) => {
    const place = await workplaceHere(t);
    const model = await place.write('tiny.onnx', chain(['Relu']));
    const nowhere = await place.run(['latency', model, ...QUICK, '--trace-url-template', 'http://jaeger/{trace_id}']);
    assert.match(nowhere.stderr, /warning: --trace-url-template has no effect.*set OTEL_EXPORTER_OTLP_ENDPOINT/);
    assert.deepEqual(await traceUrls(place), ['']);
    const wrong = await place.run(['latency', model, '--trace-url-template', 'http://jaeger']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /expected a URL such as http:\/\/jaeger:16686\/api\/traces\/\{trace_id\}/);
  });
});
