import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutRepeated } from '../../../../plugins/dlbricks/traces/trace-book.js';
import type { TracedModel } from '../../../../src/plugin-api.js';

function traced(source: string, traceIds: readonly string[], ms = 1, model = 'net'): TracedModel {
  const layer = { index: '0', name: 'fc', operator: 'Gemm', samplesMs: [ms], runs: 1 };
  return { model, system: 'here', source, traceIds, layers: [layer], wholeMs: [], tracedWholeMs: [] };
}

function kept(...models: readonly TracedModel[]): readonly string[] {
  return withoutRepeated(models).models.map(({ source }) => source);
}

describe('a trace counts once', () => {
  test('in two formats, which keep its id and round its times differently', () => {
    const models = [traced('a.jaeger.json', ['1'], 1.234), traced('a.otlp.json', ['1'], 1.234567)];
    assert.deepEqual(withoutRepeated(models).repeated, [{ model: 'net', source: 'a.otlp.json' }]);
    assert.deepEqual(kept(...models), ['a.jaeger.json']);
  });

  test('if a second file contains it together with others', () => {
    assert.deepEqual(kept(traced('one.json', ['1']), traced('both.json', ['1', '2'], 2)), ['both.json']);
  });

  test('without an id, by its measurements', () => {
    assert.deepEqual(kept(traced('a.csv', []), traced('a.jsonl', []), traced('b.csv', [], 2)), ['a.csv', 'b.csv']);
  });

  test('in a store that an earlier version filled, which kept no ids', () => {
    assert.deepEqual(kept(traced('stored.json', []), traced('a.json', ['1'])), ['a.json']);
  });

  test('and so does each model in it', () => {
    assert.deepEqual(kept(traced('a.json', ['1']), traced('b.json', ['1'], 2, 'other')), ['a.json', 'b.json']);
  });
});
