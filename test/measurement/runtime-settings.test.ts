import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DEFAULT_RUNTIME,
  idleSettings,
  combineRuntimes,
  runtimeText,
  sessionEntriesSchema,
  sessionProblem,
  sessionSchema,
} from '../../src/measurement/runtime-settings.js';
import {
  ANY_RUN,
  optimizedRun,
  optimizingRun,
  buildRunOptions,
  runOptionsSchema,
} from '../../src/measurement/system.js';

describe('settings of the runtime', () => {
  test('are absent from run options where they are the default', () => {
    assert.deepEqual(buildRunOptions(1, {}, DEFAULT_RUNTIME), {
      threads: 1,
      executionProvider: 'cpu',
      optimizationLevel: 'all',
    });
  });

  test('are in run options where they are not', () => {
    const session = sessionSchema.parse({ 'session.disable_prepacking': 1 });
    const settings = { optimization_level: 'basic', execution_mode: 'parallel', inter_op_threads: 2, session } as const;
    const options = buildRunOptions(3, {}, settings);
    assert.deepEqual(options, {
      threads: 3,
      executionProvider: 'cpu',
      optimizationLevel: 'basic',
      executionMode: 'parallel',
      interOpThreads: 2,
      session: ['session.disable_prepacking=1'],
    });
    assert.deepEqual(runOptionsSchema.parse(options), options);
    assert.equal(runtimeText(settings), 'optimizer basic, 2 kernels at a time, session.disable_prepacking=1');
    assert.equal(runtimeText({ ...DEFAULT_RUNTIME, optimization_level: 'disabled' }), 'optimizer off');
    assert.equal(runtimeText({ ...DEFAULT_RUNTIME, session }), 'session.disable_prepacking=1');
    assert.equal(runtimeText(DEFAULT_RUNTIME), '');
  });

  test('that concern the optimizer or the schedule do not reach optimized parts', () => {
    const session = {
      'optimization.disable_specified_optimizers': 'MatMulAddFusion',
      'session.disable_prepacking': '1',
      enableMemPattern: '0',
    };
    const settings = { optimization_level: 'basic', execution_mode: 'parallel', inter_op_threads: 2, session } as const;
    const options = buildRunOptions(1, {}, settings);
    const part = { ...ANY_RUN, optimizationLevel: 'disabled', session: ['session.disable_prepacking=1'] };
    assert.deepEqual(optimizedRun(options), part);
    const optimizer = ['optimization.disable_specified_optimizers=MatMulAddFusion'];
    assert.deepEqual(optimizingRun(options), { ...ANY_RUN, optimizationLevel: 'basic', session: optimizer });
  });

  test('without an effect beside the others are named', () => {
    assert.deepEqual(idleSettings(DEFAULT_RUNTIME), []);
    assert.match(
      idleSettings({ ...DEFAULT_RUNTIME, inter_op_threads: 2 }).join(),
      /inter_op_threads 2 changes nothing/,
    );
    assert.match(idleSettings({ ...DEFAULT_RUNTIME, execution_mode: 'parallel' }).join(), /parallel changes nothing/);
    assert.deepEqual(idleSettings({ ...DEFAULT_RUNTIME, execution_mode: 'parallel', inter_op_threads: 2 }), []);
  });

  test('have each combination of several values', () => {
    const session = new Map([['enableMemPattern', ['0', '1']]]);
    const all = combineRuntimes({ optimizationLevel: ['basic', 'all'], session });
    assert.deepEqual(
      all.map((one) => [one.optimization_level, one.session.enableMemPattern]),
      [
        ['basic', '0'],
        ['basic', '1'],
        ['all', '0'],
        ['all', '1'],
      ],
    );
  });
});

describe('a key of a session', () => {
  test('that is not in the list is refused with the list', () => {
    assert.match(sessionProblem('session.load', '1') ?? '', /unknown key session.load; known keys: .*enableMemPattern/);
  });

  test('is refused with what is expected', () => {
    assert.equal(sessionProblem('enableMemPattern', 'yes'), 'enableMemPattern: expected 0 or 1');
    for (const [key, wrong, expected] of [
      ['session.dynamic_block_base', ['-1', '1x', 'x1', '1234567', ''], /expected a whole number, of at most/],
      ['session.intra_op_thread_affinities', ['1;x', 'x1', '1;'.repeat(501)], /expected processors of each thread/],
      ['optimization.disable_specified_optimizers', ['A;', ';A', 'A B'], /expected names of optimizers/],
    ] as const) {
      for (const value of wrong) assert.match(sessionProblem(key, value) ?? '', expected, value);
    }
    assert.equal(sessionProblem('session.dynamic_block_base', '123456'), undefined);
    assert.equal(sessionProblem('optimization.disable_specified_optimizers', 'A;B_2'), undefined);
    assert.equal(sessionProblem('session.intra_op_thread_affinities', '1;2,3;4-6'), undefined);
  });

  test('in run options is KEY=VALUE, known, and there once', () => {
    const isValid = (...entries: readonly string[]): boolean => sessionEntriesSchema.safeParse(entries).success;
    assert.ok(isValid());
    assert.ok(isValid('enableMemPattern=0', 'enableCpuMemArena=1'));
    for (const wrong of ['enableMemPattern', 'enableMemPattern=', '=0', 'enableMemPattern=2', 'unknown=0'])
      assert.ok(!isValid(wrong), wrong);
    assert.ok(!isValid('enableMemPattern=0', 'enableMemPattern=1'));
  });
});
