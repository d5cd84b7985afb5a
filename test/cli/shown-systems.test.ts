import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TABLE_EXPORTERS } from '../../src/base/exporters/index.js';
import { shownSystems } from '../../src/cli/shown-systems.js';
import { type SystemResult, buildSystemsResult } from '../../src/evaluation/systems-result.js';
import { assertOfSchema } from '../schemas/validator.js';

function systemOf(name: string, changes: Partial<SystemResult> = {}): SystemResult {
  return {
    name,
    fingerprint: name.padEnd(64, '0'),
    processor: `processor ${name}`,
    architecture: 'x64',
    operating_system: 'Linux 6.1',
    cores: 4,
    memory_bytes: 2 ** 34,
    framework: 'onnxruntime',
    framework_version: '1.30.0',
    threads: 1,
    agents: [`${name}:7070`],
    estimates: [],
    partial: false,
    failure: null,
    result: { any: 'document' },
    ...changes,
  };
}

const document = buildSystemsResult({
  provenance: null,
  evaluation: 'nightly',
  plugin: 'dlbricks',
  models: ['resnet18', 'bert'],
  systems: [
    systemOf('fast', {
      estimates: [
        { model: 'resnet18', latency_ms: 10, low_ms: 9, high_ms: 11, coverage: 1, percentiles: [] },
        { model: 'bert', latency_ms: 25.5, low_ms: null, high_ms: null, coverage: 0.5, percentiles: [] },
      ],
      partial: true,
    }),
    systemOf('slow', { failure: { code: 'unavailable', message: 'nobody answers' }, partial: true, result: null }),
  ],
});

const shown = shownSystems(document);

function text(width?: number): string {
  return shown?.text({ color: false, width }) ?? '';
}

describe('the result of an evaluation on several systems', () => {
  it('is a table of models by systems, with the reason of a failure', () => {
    assert.match(text(), /│ model +│ +fast \(ms\) +│ slow \(ms\) +│/);
    assert.match(text(), /│ resnet18 │ +10\.00 ± 10\.0 % │ +- │/);
    assert.match(text(), /│ bert +│ +part: 25\.50 │ +- │/);
    assert.match(text(), /^slow: failed: nobody answers$/m);
    assert.match(text(), /^fast: processor fast, 1 of 4 cores, onnxruntime 1\.30\.0; measured by fast:7070$/m);
  });

  it('leaves out systems that a terminal has no room for, and says so', () => {
    const narrow = text(30);
    assert.match(narrow, /too narrow\s+for: slow \(ms\)/);
    for (const line of narrow.split('\n')) assert.ok(line.length <= 30, line);
  });

  it('is exported with a record for each model on each system, also where it has no latency', () => {
    assert.ok(shown !== undefined);
    const [header, ...rows] = TABLE_EXPORTERS.csv(shown.result()).trimEnd().split('\r\n');
    assert.match(header ?? '', /^model,system,latency_ms,low_ms,high_ms,coverage,reason,fingerprint,processor,/);
    assert.deepEqual(
      rows.map((row) => row.split(',').slice(0, 7)),
      [
        ['resnet18', 'fast', '10', '9', '11', '1', ''],
        ['resnet18', 'slow', '', '', '', '', 'nobody answers'],
        ['bert', 'fast', '25.5', '', '', '0.5', ''],
        ['bert', 'slow', '', '', '', '', 'nobody answers'],
      ],
    );
    const markdown = TABLE_EXPORTERS.markdown(shown.result());
    assert.match(markdown, /^\| resnet18 \| fast \| 10\.00 ± 10\.0 % \| 100 % \|$/m);
    assert.match(markdown, /^- slow: failed: nobody answers$/m);
  });

  it('is a document by its published schema', () => {
    assert.ok(shown !== undefined);
    assertOfSchema('systems', JSON.parse(TABLE_EXPORTERS.json(shown.result())));
  });

  it('is a page with a row for each model on each system', () => {
    const page = shown?.page?.();
    assert.match(page?.title ?? '', /^Latency of 2 models on 2 systems: fast, slow$/);
    assert.equal(page?.verdict, 'Known latencies: 2 of 4.');
    assert.match(page?.sections[0]?.chart?.text ?? '', /<span class="name">resnet18, fast<\/span>/);
  });

  it('has the percentiles of timed models, and says why some are missing', () => {
    const reason = 'p99 needs 100 runs, and there are 50';
    const timed = (ms: number): SystemResult['estimates'][number] => ({
      ...{ model: 'resnet18', latency_ms: ms, low_ms: null, high_ms: null, coverage: 1 },
      percentiles: [
        { percentage: 50, latency_ms: ms + 0.5, reason: null },
        { percentage: 99, latency_ms: null, reason },
      ],
    });
    const ofTimed = shownSystems({
      ...document,
      models: ['resnet18'],
      systems: [systemOf('fast', { estimates: [timed(10)] }), systemOf('slow', { estimates: [timed(20)] })],
    });
    assert.ok(ofTimed !== undefined);
    const table = ofTimed.text({ color: false, width: undefined });
    assert.match(table, /│ resnet18 │ mean +│ +10\.00 │ +20\.00 │/);
    assert.match(table, /│ resnet18 │ p50 +│ +10\.50 │ +20\.50 │/);
    assert.match(table, /│ resnet18 │ p99 +│ +- │ +- │\n[\s\S]*^fast: p99 needs 100 runs, and there are 50$/m);
    const [header = '', first = ''] = TABLE_EXPORTERS.csv(ofTimed.result()).split('\r\n');
    assert.match(header, /,agents,p50_ms,p99_ms$/);
    assert.match(first, /,fast:7070,10\.5,$/);
    assert.match(
      TABLE_EXPORTERS.markdown(ofTimed.result()),
      /^\| resnet18 \| fast \| 10\.00 \| 10\.50 \| - \| 100 % \|$/m,
    );
    assertOfSchema('systems', JSON.parse(TABLE_EXPORTERS.json(ofTimed.result())));
  });

  it('is recognised: the document of a plugin is left to the plugin', () => {
    assert.equal(shownSystems({ models: [] }), undefined);
    assert.equal(shownSystems(undefined), undefined);
  });
});
