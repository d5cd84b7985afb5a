import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Judged,
  outdatedAcceptances,
  score,
  scoreTable,
  type TargetResult,
  stuckMutants,
  unexpectedSurvivors,
} from '../../mutants/report.js';
import { mutantOf } from './mutant.js';

const JUDGED: readonly Judged[] = [
  { mutant: mutantOf('a | < → <='), fate: 'killed' },
  { mutant: mutantOf('b | < → <='), fate: 'survived' },
  { mutant: mutantOf('c | 1 → 2'), fate: 'not executed' },
  { mutant: mutantOf('d | 1 → 2'), fate: 'stuck' },
];

const RESULT: TargetResult = {
  folder: 'src',
  mutants: [...JUDGED.map(({ mutant }) => mutant), mutantOf('e | not in the sample')],
  judged: JUDGED,
};

function accepting(...descriptions: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map([['src/a.ts', new Set(descriptions)]]);
}

test('survivors are listed with place and change, except accepted ones', () => {
  assert.deepEqual(unexpectedSurvivors(JUDGED, accepting()), [
    'src/a.ts:3: b | < → <=',
    'src/a.ts:3: c | 1 → 2 (not executed)',
  ]);
  assert.deepEqual(unexpectedSurvivors(JUDGED, accepting('b | < → <=', 'c | 1 → 2')), []);
});

test('a mutant at which a test did not end is listed, because the machine may have been too busy', () => {
  assert.deepEqual(stuckMutants(JUDGED), ['src/a.ts:3: d | 1 → 2 (noticed, because a test did not end)']);
});

test('an accepted mutant is outdated if it is killed or gone, not if it is outside of the sample', () => {
  const accepted = accepting('a | < → <=', 'b | < → <=', 'e | not in the sample', 'x | gone');
  assert.deepEqual(outdatedAcceptances(RESULT, accepted), ['src/a.ts: a | < → <=', 'src/a.ts: x | gone']);
});

test('the score counts survivors, accepted or not, and code that no test executes', () => {
  assert.equal(score(RESULT), 0.5);
  assert.equal(score({ ...RESULT, mutants: [], judged: [] }), 1);
});

test('the table has a row for each folder', () => {
  const cells = scoreTable([RESULT], accepting('b | < → <=')).split('\n')[3]?.split('│');
  assert.deepEqual(
    cells?.map((cell) => cell.trim()).filter((cell) => cell !== ''),
    ['src', '5', '4', '2', '2', '1', '50.0 %'],
  );
});
