import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../support/property.js';
import { progressLine, type ProgressState, roughDuration } from '../../src/cli/progress-line.js';

const STATE: ProgressState = {
  title: 'measuring',
  done: 7,
  total: 39,
  secondsLeft: 4.2,
  label: 'squeezenet1.1: Conv',
  within: 'run 23 of 53',
};

const arbitraryState = fc.record({
  title: fc.constantFrom('measuring', 'preparing'),
  done: fc.nat(10_000),
  total: fc.nat(10_000),
  secondsLeft: fc.option(fc.nat(1_000_000), { nil: undefined }),
  label: fc.string({ unit: 'grapheme', maxLength: 200 }),
  within: fc.string({ maxLength: 30 }),
});

describe('a progress bar', () => {
  it('shows everything where there is room', () => {
    assert.equal(
      progressLine(STATE, 120),
      'measuring  17 % [=====-------------------------]   7/39  5 s left  squeezenet1.1: Conv (run 23 of 53)',
    );
  });

  it('is narrower on a narrow terminal', () => {
    assert.equal(
      progressLine({ ...STATE, within: '' }, 80),
      'measuring  17 % [==----------]   7/39  5 s left  squeezenet1.1: Conv',
    );
  });

  it('leaves out details before it shortens the label', () => {
    assert.equal(
      progressLine({ ...STATE, label: 'squeezenet1.1: Conv+Relu+MaxPool' }, 80),
      'measuring  17 % [==----------]   7/39  5 s left  squeezenet1.1: Conv+Relu+MaxP…',
    );
  });

  it('does not show the time left where it is unknown', () => {
    assert.doesNotMatch(progressLine({ ...STATE, secondsLeft: undefined }, 120), /left/);
  });

  it('is full at the end', () => {
    assert.match(progressLine({ ...STATE, done: 39 }, 80), /^measuring 100 % \[============\] {2}39\/39/);
  });

  it('counts characters of East Asian scripts as two columns', () => {
    const line = progressLine({ ...STATE, label: '模型'.repeat(20) }, 80);
    const wide = [...line].filter((character) => character === '模' || character === '型').length;
    assert(line.length + wide <= 79, line);
  });

  it('never fills the last column of any terminal', () => {
    fc.assert(
      fc.property(arbitraryState, fc.integer({ min: 1, max: 300 }), (state, columns) => {
        const done = Math.min(state.done, state.total);
        assert([...progressLine({ ...state, done }, columns)].length < Math.max(columns, 2));
      }),
    );
  });
});

describe('a rough duration', () => {
  for (const [seconds, words] of [
    [0, '0 s'],
    [4.2, '5 s'],
    [99, '99 s'],
    [100, '2 min'],
    [3_599, '1 h 0 min'],
    [7_500, '2 h 5 min'],
  ] as const) {
    it(`of ${seconds} s is ${words}`, () => assert.equal(roughDuration(seconds), words));
  }
});
