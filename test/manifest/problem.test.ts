import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT_CODES, PlatformError } from '../../src/base/errors.js';
import { parseDocument } from '../../src/manifest/document.js';
import { formatProblems, orThrow } from '../../src/manifest/problem.js';
import { problemsOf, read } from './read-manifest.js';

const HEAD = 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\n';

/** The problems of a valid evaluation after these lines are added; the first of them is line 5. */
function evaluationProblems(lines: string): readonly string[] {
  return problemsOf('evaluation', `${HEAD}models: [zoo:a]\n${lines}`);
}

const CASES: readonly [what: string, lines: string, problem: string][] = [
  [
    'an unknown key near a known one',
    'granularty: 2',
    'm.yml:5:1: granularty: expected a known key, found the unknown key "granularty" (did you mean "granularity"?)',
  ],
  [
    'an unknown key inside',
    'protocol:\n  warmup: 2',
    'm.yml:6:3: protocol.warmup: expected a known key, found the unknown key "warmup" (did you mean "warmup_runs"?)',
  ],
  [
    'an unknown key near none',
    'hardware: {gpu: 1}',
    'm.yml:5:12: hardware.gpu: expected one of the keys architecture, processor, cores, memory, found the unknown key "gpu"',
  ],
  [
    'a value out of bounds',
    'threads: 0',
    'm.yml:5:10: threads: expected a whole number from 1 to 1024, found the number 0',
  ],
  [
    'a fraction of a whole number',
    'batch_size: 1.5',
    'm.yml:5:13: batch_size: expected a whole number from 1 to 65536, found the number 1.5',
  ],
  ['a value of a closed set', 'cut: leyer', 'm.yml:5:6: cut: expected "kernel" or "layer", found "leyer"'],
  [
    'what older YAML took for true',
    'measure_end_to_end: yes',
    'm.yml:5:21: measure_end_to_end: expected true or false, found "yes"',
  ],
  [
    'a missing key, at the mapping that should have it',
    'software:\n  framework:\n    name: onnxruntime',
    'm.yml:7:5: software.framework.version: expected a range of versions such as "^1.20", found nothing',
  ],
  [
    'a number where a text belongs',
    'software: {framework: {name: onnxruntime, version: 1.20}}',
    'm.yml:5:52: software.framework.version: expected a range of versions such as "^1.20" in quotes, found the number 1.20',
  ],
  [
    'neither alternative',
    'hardware: [x64]',
    'm.yml:5:11: hardware: expected the path of a manifest (.yml), or a constraint, found a list of 1',
  ],
  [
    'a limit that another key sets',
    'protocol: {runs: 5, min_runs: 6}',
    'm.yml:5:31: protocol.min_runs: expected at most as many as runs, found the number 6',
  ],
  ['an empty value', 'cut:', 'm.yml:5:1: cut: expected "kernel" or "layer", found an empty value'],
];

for (const [what, lines, problem] of CASES) {
  test(`problem: ${what}`, () => {
    assert.deepEqual(evaluationProblems(lines), [problem]);
  });
}

test('lines that end with CR LF count once', () => {
  const yaml = `${HEAD}models: [zoo:a]\ncut: x`.replaceAll('\n', '\r\n');
  assert.match(problemsOf('evaluation', yaml).join(), /^m\.yml:5:6: /);
});

test('a byte order mark moves nothing', () => {
  assert.match(problemsOf('hardware', '\uFEFFdlspec: x').join('\n'), /^m\.yml:1:9: dlspec:/m);
});

test('the item of a list is named by its place', () => {
  const yaml = `${HEAD}models:\n  - zoo:a\n  - model.pb\n`;
  assert.deepEqual(problemsOf('evaluation', yaml), [
    'm.yml:6:5: models[1]: expected a model manifest (.yml), an ONNX file (.onnx) or zoo:NAME, or NAME@VERSION of a manifest, found "model.pb"',
  ]);
});

test('the list of known keys is named once', () => {
  const [first = '', second = '', third = ''] = problemsOf(
    'evaluation',
    `${HEAD}models: [zoo:a]\nhardware: {gpu: 1, disk: 2}\nzzz: 3`,
  );
  assert.match(first, /hardware\.gpu: expected one of the keys architecture, processor, cores, memory, found/);
  assert.match(second, /hardware\.disk: expected one of the keys above, found the unknown key "disk"/);
  assert.match(third, /zzz: expected one of the keys dlspec, name, /);
});

test('problems of every sort come in one go, from top to bottom', () => {
  const yaml = [
    'dlspec: evaluation/v1',
    'name: 7',
    'modles: []',
    'description: *x',
    'models: []',
    'cut: !t layer',
    'threads: a',
    'threads: 1',
    'protocol: {runs: 1, min_runs: 2}',
  ].join('\n');
  assert.deepEqual(
    problemsOf('evaluation', yaml).map((line) => line.replace(/: expected.*/, '')),
    [
      'm.yml:1:1: version',
      'm.yml:2:7: name',
      'm.yml:3:1: modles',
      'm.yml:4:14: description',
      'm.yml:5:9: models',
      'm.yml:6:6: cut',
      'm.yml:8:1: threads',
      'm.yml:9:31: protocol.min_runs',
    ],
  );
});

test('a wrong header does not hide what else is wrong', () => {
  assert.deepEqual(problemsOf('hardware', 'dlspec: hardwear/v1\nname: a\nversion: 1.0.0\ncores: 2'), [
    'm.yml:1:9: dlspec: expected "hardware/v1", found "hardwear/v1"',
    'm.yml:4:8: cores: expected a mapping, found the number 2',
  ]);
});

test('thrown, they are one manifest error with a line each and exit code 2', () => {
  const result = read('hardware', 'dlspec: hardware/v1\nname: a\n');
  assert.throws(
    () => orThrow(result),
    (error) => {
      assert.ok(error instanceof PlatformError);
      assert.equal(EXIT_CODES[error.code], 2);
      assert.equal(error.message, 'm.yml:1:1: version: expected a semantic version such as "1.0.0", found nothing');
      return true;
    },
  );
});

test('a hundred problems of a manifest are shown, then how many more there are', () => {
  const problems = Array.from({ length: 150 }, (_, index) => {
    return { file: 'm.yml', line: index + 1, column: 1, path: 'name', expected: 'a name', found: 'none' };
  });
  const lines = formatProblems(problems).split('\n');
  assert.equal(lines.length, 101);
  assert.match(lines[99] ?? '', /^m\.yml:100:1: /);
  assert.equal(lines[100], 'm.yml: and 50 more problems');
});

test('the first byte that is not UTF-8 is named with its place', () => {
  const parsed = parseDocument('m.yml', Buffer.concat([Buffer.from('ü: 1\nb: '), Buffer.from([0xff, 0x31, 0x0a])]));
  assert.deepEqual(parsed, {
    ok: false,
    problems: [
      {
        file: 'm.yml',
        line: 2,
        column: 4,
        path: 'document',
        expected: 'UTF-8 text',
        found: 'the byte 0xff at offset 9, which is not valid UTF-8',
      },
    ],
  });
});
