import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { wholeNumber } from '../../src/base/bounded-number.js';
import { parseDocument } from '../../src/manifest/document.js';
import { interpretDocument } from '../../src/manifest/load.js';
import { pluginSettings } from '../../src/manifest/plugin-settings.js';
import { formatProblem, orThrow } from '../../src/manifest/problem.js';
import { problemsOf } from './read-manifest.js';

const HEADER = 'dlspec: evaluation/v1\nversion: 1.0.0\n';

/** The problems of an evaluation that is valid except for this line. */
function problemsWith(line: string): readonly string[] {
  const others = ['name: e', 'models: [zoo:a]'].filter((other) => !line.startsWith(other.slice(0, 5)));
  return problemsOf('evaluation', `${HEADER}${[...others, line].join('\n')}`);
}

// Every value that takes memory or time of a machine is limited.
describe('an evaluation has within its bounds', () => {
  const list = (count: number): string => `models: [${Array.from({ length: count }, () => 'zoo:a').join()}]`;
  const bounds: readonly [what: string, within: readonly string[], beyond: readonly string[]][] = [
    ['threads', ['threads: 1', 'threads: 1024'], ['threads: 0', 'threads: 1025', 'threads: 1.5', 'threads: true']],
    ['batches', ['batch_size: 1', 'batch_size: 65536'], ['batch_size: 0', 'batch_size: 65537']],
    [
      'dimensions',
      ['dimensions: {a: 0}', 'dimensions: {a: 2147483647}'],
      ['dimensions: {a: -1}', 'dimensions: {a: 2147483648}'],
    ],
    [
      'runs',
      ['protocol: {runs: 1}', 'protocol: {runs: 1000000}'],
      ['protocol: {runs: 0}', 'protocol: {runs: 1000001}'],
    ],
    [
      'warm-up runs',
      ['protocol: {warmup_runs: 0}', 'protocol: {warmup_runs: 100000}'],
      ['protocol: {warmup_runs: -1}', 'protocol: {warmup_runs: 100001}'],
    ],
    ['fewest runs', ['protocol: {min_runs: 50}'], ['protocol: {min_runs: 0}', 'protocol: {min_runs: 51}']],
    ...['time_budget_ms', 'time_limit_ms', 'memory_limit_gib'].map((key): (typeof bounds)[number] => {
      return [key, [`protocol: {${key}: 0.5}`], [`protocol: {${key}: 0}`, `protocol: {${key}: -1}`]];
    }),
    // A day, as in requests to an agent.
    ...['time_budget_ms', 'time_limit_ms'].map((key): (typeof bounds)[number] => {
      return [`${key} of a day`, [`protocol: {${key}: 86400000}`], [`protocol: {${key}: 86400001}`]];
    }),
    ['models', [list(1), list(1000)], [list(0), list(1001)]],
    ['names in the zoo', [`models: [zoo:${'a'.repeat(100)}]`], [`models: [zoo:${'a'.repeat(101)}]`, 'models: [zoo:A]']],
    ['one line of each path', ['models: [a.onnx]'], ['models: ["a\\u0007.onnx"]', 'models: ["a\\u2028.onnx"]']],
  ];
  for (const [what, within, beyond] of bounds) {
    test(what, () => {
      for (const line of within) assert.deepEqual(problemsWith(line), [], line.slice(0, 60));
      for (const line of beyond) assert.notDeepEqual(problemsWith(line), [], line.slice(0, 60));
    });
  }
});

test('a misspelt kind, where there are several, is a problem that says what is meant', () => {
  const document = orThrow(parseDocument('m.yml', Buffer.from('dlspec: evalution/v1')));
  const read = interpretDocument(document, ['evaluation', 'dataset']);
  assert.deepEqual(read.ok ? [] : read.problems.map(formatProblem), [
    'm.yml:1:9: dlspec: expected "evaluation/v1" or "dataset/v1", found "evalution/v1" (did you mean "evaluation/v1"?)',
  ]);
});

describe("a plugin's settings", () => {
  const granularity = wholeNumber(1, 1_000_000).optional();
  const schema = z.strictObject({ share: z.number().optional(), granularity });
  const settingsIn = (yaml: string): unknown => {
    const text = `${HEADER}name: e\nmodels: [zoo:a]\n${yaml}`;
    return pluginSettings(orThrow(parseDocument('m.yml', Buffer.from(text))), schema);
  };

  test('are those under settings, and those of older places that it knows', () => {
    assert.deepEqual(settingsIn(''), {});
    assert.deepEqual(settingsIn('settings: {share: 0.5}'), { share: 0.5 });
    assert.deepEqual(settingsIn('granularity: 3\ncut: layer\nsettings: {share: 0.5}'), { granularity: 3, share: 0.5 });
    assert.deepEqual(settingsIn('granularity: 3\nsettings: {granularity: 4}'), { granularity: 4 });
  });

  test('have a matrix at either place where the plugin has one, and no other plugin has one', () => {
    const text = `${HEADER}name: e\nmodels: [zoo:a]\nmatrix: {threads: [1]}`;
    const matrix = z.strictObject({ matrix: z.strictObject({ threads: z.array(z.number()) }) });
    const document = orThrow(parseDocument('m.yml', Buffer.from(text)));
    assert.deepEqual(pluginSettings(document, matrix.partial()), { matrix: { threads: [1] } });
    assert.throws(() => settingsIn('matrix: {threads: [1]}'), /m\.yml:5:1: matrix: expected no matrix/);
  });

  test('may be empty where the plugin allows it', () => {
    const text = `${HEADER}name: e\nmodels: [zoo:a]\nsettings: { limit: }`;
    const limit = z.strictObject({ limit: z.number().nullable() });
    assert.deepEqual(pluginSettings(orThrow(parseDocument('m.yml', Buffer.from(text))), limit), { limit: null });
  });

  test('are refused with their place and what belongs there', () => {
    assert.throws(
      () => settingsIn('settings: {share: much}'),
      /m\.yml:5:19: settings\.share: expected a number, found "much"/,
    );
    assert.throws(() => settingsIn('settings: {more: 1}'), /settings\.more/);
  });

  test('have the same bounds at both places', () => {
    for (const value of [1, 1_000_000]) {
      assert.deepEqual(settingsIn(`granularity: ${value}`), { granularity: value });
      assert.deepEqual(settingsIn(`settings: {granularity: ${value}}`), { granularity: value });
    }
    for (const value of [0, 1_000_001, 1.5, 'x']) {
      const expected = /granularity: expected a whole number from 1 to 1000000/;
      assert.throws(() => settingsIn(`granularity: ${value}`), expected);
      assert.throws(() => settingsIn(`settings: {granularity: ${value}}`), expected);
    }
    assert.throws(() => settingsIn('granularity: 0'), /^PlatformError: m\.yml:5:14: granularity: /);
  });
});

test('a file that is not UTF-8 says where', () => {
  const document = parseDocument('m.yml', Buffer.concat([Buffer.from('name: a\nversion: '), Buffer.of(0xff)]));
  assert.equal(document.ok, false);
  const [problem = assert.fail()] = document.ok ? [] : document.problems;
  assert.match(formatProblem(problem), /^m\.yml:2:10: .*UTF-8/);
});
