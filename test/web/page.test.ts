import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TableResult } from '../../src/base/exporters/exporter.js';
import { histogramChart, icicleChart, rangeChart } from '../../src/web/charts.js';
import { htmlPage } from '../../src/web/page.js';

function resultOf(rows: readonly (readonly string[])[], more: Partial<TableResult> = {}): TableResult {
  const table = { titles: ['model', 'latency (ms)'], aligns: ['left', 'right'] as const, rows };
  return { document: {}, records: { keys: [], rows: [] }, table, notes: [], ...more };
}

const HOSTILE = '</script><img src=x onerror=alert(1)>"\'&\u202e\u0007';

describe('htmlPage', () => {
  it('shows the table of a result that has no page of its own', () => {
    const html = htmlPage([{ result: () => resultOf([['resnet', '1.5']]) }]);
    assert.match(html, /<th scope="row">resnet<\/th><td class="right">1.5<\/td>/);
  });

  it('escapes foreign text in every part', () => {
    const ranges = [{ name: HOSTILE, value: 1, low: 0.5, high: 2, text: HOSTILE, hint: HOSTILE }];
    const chart = rangeChart({ unit: HOSTILE, words: { value: HOSTILE, interval: HOSTILE }, ranges });
    const icicle = icicleChart([{ name: HOSTILE, ms: 1, parts: [{ name: HOSTILE, ms: 1, hint: HOSTILE }] }]);
    const table = { titles: [HOSTILE, 'a'], rows: [[HOSTILE, HOSTILE]], hints: [[HOSTILE, HOSTILE]] };
    const html = htmlPage([
      {
        result: () => resultOf([], { notes: [HOSTILE], warnings: [HOSTILE] }),
        page: () => ({
          title: HOSTILE,
          verdict: HOSTILE,
          sections: [
            { title: HOSTILE, lead: HOSTILE, chart, table },
            { title: HOSTILE, chart: icicle },
          ],
        }),
      },
    ]);
    assert.doesNotMatch(html, /<img|\u202e|\u0007/);
    assert.equal(html.split('</script>').length, 2, 'only the own script ends');
    assert.ok(html.split('&#60;/script&#62;&#60;img').length > 15);
  });

  it('puts warnings before figures, also those among the notes', () => {
    const html = htmlPage([{ result: () => resultOf([['a', '1']], { notes: ['a note', 'warning: wide'] }) }]);
    assert.ok(html.indexOf('warning: wide') < html.indexOf('<table>'));
    assert.ok(html.indexOf('a note') > html.indexOf('<table>'));
  });

  it('keeps options in one piece, which browsers would break after hyphens', () => {
    const notes = ['warning: busy; --remeasure disturbed', 'a note of --repeat-limit, not a - b'];
    const html = htmlPage([{ result: () => resultOf([['a', '1']], { notes }) }]);
    assert.match(html, /<li>warning: busy; <span class="option">--remeasure<\/span> disturbed<\/li>/);
    assert.match(html, /<li>a note of <span class="option">--repeat-limit<\/span>, not a - b<\/li>/);
    assert.match(html, /\.option { white-space: nowrap; }/);
  });

  it('says what a result is of, and why it does not say more', () => {
    const provenance = {
      tool: { name: 'mlmodelscope', version: '1.2.3' },
      models: [{ name: HOSTILE, file_sha256: null, weights: 'made_up' }],
      host: null,
      reasons: { host: 'no agent took part' },
    };
    const document = { reports: [{ provenance }, { provenance }] };
    const html = htmlPage([{ result: () => resultOf([], { document }) }]);
    const facts = [...html.split('Provenance</h2>')[1]!.matchAll(/<th scope="row">(.*?)<\/th><td>(.*?)<\/td>/g)];
    assert.deepEqual(
      facts.map(([, name, value]) => [name, value?.replace(/&#60;.*;/, '…;')]),
      [
        ['tool: name', 'mlmodelscope'],
        ['tool: version', '1.2.3'],
        ['models', 'name …; weights made_up'],
        ['host', 'not stated here: no agent took part'],
      ],
    );
    for (const without of [{}, { provenance: null }]) {
      assert.doesNotMatch(htmlPage([{ result: () => resultOf([], { document: without }) }]), /Provenance/);
    }
  });

  it('says which results a fact is of that not all of them have', () => {
    const provenanceAt = (at: string) => ({ tool: { name: 'mlmodelscope' }, created_at: at });
    const document = { reports: ['one', 'two', 'one'].map((at) => ({ provenance: provenanceAt(at) })) };
    const html = htmlPage([{ result: () => resultOf([], { document }) }]);
    const facts = [...html.split('Provenance</h2>')[1]!.matchAll(/<th scope="row">(.*?)<\/th><td>(.*?)<\/td>/g)];
    assert.deepEqual(
      facts.map(([, name, value]) => [name, value]),
      [
        ['tool: name', 'mlmodelscope'],
        ['created at (of results 1, 3)', 'one'],
        ['created at (of result 2)', 'two'],
      ],
    );
  });

  it('lets no script run but its own and loads nothing', () => {
    const html = htmlPage([{ result: () => resultOf([]) }]);
    assert.match(html, /default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^']+'/);
    assert.doesNotMatch(html, /(src|href)="/);
  });

  it('stays small for ten thousand rows', () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => [`model ${i}`, `${i}.5`]);
    assert.ok(htmlPage([{ result: () => resultOf(rows) }]).length < 5_000_000);
  });
});

describe('charts', () => {
  it('draw nothing where nothing is known', () => {
    assert.equal(
      rangeChart({
        unit: 'ms',
        words: { value: '', interval: '' },
        ranges: [{ name: 'a', value: null, low: null, high: null, text: '-' }],
      }),
      undefined,
    );
    assert.equal(icicleChart([{ name: 'a', ms: 0 }]), undefined);
  });

  it('draw a bar for each step of a histogram, and say how many values it has', () => {
    const chart = histogramChart('ms', [{ name: HOSTILE, from: 2, step: 0.5, counts: [1, 4, 0] }]);
    const bars = [...(chart?.text ?? '').matchAll(/: (?<what>[^":]+)" style="height:(?<height>[^"]+)"/g)];
    assert.deepEqual(
      bars.map(({ groups }) => [groups?.['what'], groups?.['height']]),
      [
        ['1 between 2 and 2.5 ms', '25.000%'],
        ['4 between 2.5 and 3 ms', '100.000%'],
        ['0 between 3 and 3.5 ms', '0.000%'],
      ],
    );
    assert.match(chart?.text ?? '', /<span>2 ms<\/span><span>3\.5 ms<\/span>/);
    assert.doesNotMatch(chart?.text ?? '', /<img/);
    assert.equal(histogramChart('ms', []), undefined);
  });

  it('draw all small parts as one, and lose no time', () => {
    const small = Array.from({ length: 50 }, (_, i) => ({ name: `small ${i}`, ms: 0.001 }));
    const chart = icicleChart([{ name: 'whole', ms: 10.05, parts: [{ name: 'large', ms: 10 }, ...small] }]);
    assert.match(chart?.text ?? '', /title="50 smaller: 0\.05000 ms[^>]*><\/span>/, 'too narrow for a name');
  });
});
