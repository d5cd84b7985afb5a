import { Command, type Option } from 'commander';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { registerRun } from '../../../../plugins/dlbricks/commands/run.js';
import { settingsSchema } from '../../../../plugins/dlbricks/settings.js';
import { createFakeAgent } from '../../../support/fake-agent.js';
import { assertOfSchema } from '../../../schemas/validator.js';
import { recordingHost } from './command-host.js';

/** The options that change what an evaluation measures or estimates, and the equivalent part of its manifest. */
const IN_EVALUATIONS: Readonly<Record<string, object>> = {
  '--granularity': { settings: { granularity: 2 } },
  '--cut': { settings: { cut: 'layer' } },
  '--keep-dynamic': { settings: { keep_dynamic: true } },
  '--shorten': { settings: { shorten: 'always' } },
  '--values-of-run': { settings: { values: 'run' } },
  '--check': { settings: { check: true } },
  '--measure': { settings: { measure: 'none' } },
  '--target-error': { settings: { target_error: 3 } },
  '--repeat-limit': { settings: { repeat_limit: 2 } },
  '--fresh': { settings: { remeasure: 'all' } },
  '--remeasure': { settings: { remeasure: 'older-than:30d' } },
  '--dimension': { dimensions: { sequence: 128 } },
  '--batch': { batch_size: 4 },
  '--threads': { threads: 2 },
  '--optimization-level': { settings: { optimization_level: 'basic' } },
  '--execution-mode': { settings: { execution_mode: 'parallel' } },
  '--inter-op-threads': { settings: { inter_op_threads: 2 } },
  '--session': { settings: { session: { 'session.disable_prepacking': 1 } } },
  '--runs': { protocol: { runs: 20 } },
  '--warmup': { protocol: { warmup_runs: 5 } },
  '--framework': { software: { framework: { name: 'onnxruntime-web', version: '*' } } },
};

/** The same for options that belong to a model. */
const IN_MODELS: Readonly<Record<string, object>> = {
  '--allow-version': {
    framework: 'any',
    inputs: [{ layer_name: 'x', element_type: 'float32', dimensions: [1] }],
  },
  '--input': { inputs: [{ layer_name: 'lengths', element_type: 'int64', dimensions: [1], values: 127 }] },
};

/**
 * Options of the command alone: where it measures, where results go, how they are shown, and what is not an evaluation.
 */
const OF_THE_COMMAND = [
  '--agent',
  '--store',
  '--export-json',
  '--export-html',
  '--export-csv',
  '--export-markdown',
  '--trace-out',
  '--export-svg',
  '--export-dot',
  '--wide',
  '--strict',
  '--best',
  '--log',
  '--within',
  '--quiet',
  '--suite',
];

const EVALUATION = { dlspec: 'evaluation/v1', name: 'x', version: '1.0.0', models: ['zoo:alexnet'] };

const MODEL = {
  dlspec: 'model/v1',
  name: 'x',
  version: '1.0.0',
  framework: { name: 'onnxruntime', version: '^1.20' },
  inputs: [],
  outputs: [{ layer_name: 'y', element_type: 'float32', dimensions: [1] }],
  model: { graph_path: 'x.onnx' },
};

function optionsOfRun(): readonly Option[] {
  const program = new Command();
  registerRun(program, recordingHost(createFakeAgent({ latencyOf: () => 1 })));
  const [run] = program.commands;
  return (run?.options ?? []).filter(({ hidden }) => !hidden);
}

test('every option of `dlbricks run` belongs to the command alone, or can be written in a manifest', () => {
  const listed = [...Object.keys(IN_EVALUATIONS), ...Object.keys(IN_MODELS), ...OF_THE_COMMAND];
  assert.deepEqual(
    optionsOfRun()
      .map(({ long }) => long)
      .sort(),
    listed.sort(),
  );
});

test('manifests accept the equivalents of options', () => {
  const settings = {};
  const others = {};
  for (const part of Object.values(IN_EVALUATIONS)) {
    if ('settings' in part) Object.assign(settings, part.settings);
    else Object.assign(others, part);
  }
  assertOfSchema('evaluation-manifest', { ...EVALUATION, ...others, settings });
  for (const part of Object.values(IN_MODELS)) assertOfSchema('model-manifest', { ...MODEL, ...part });
});

/** The place in a manifest of each number that an option gives. */
const NUMBERS: Readonly<Record<string, (value: unknown) => object>> = {
  '--granularity': (value) => ({ settings: { granularity: value } }),
  '--target-error': (value) => ({ settings: { target_error: value } }),
  '--repeat-limit': (value) => ({ settings: { repeat_limit: value } }),
  '--batch': (value) => ({ batch_size: value }),
  '--threads': (value) => ({ threads: value }),
  '--runs': (value) => ({ protocol: { runs: value } }),
  '--warmup': (value) => ({ protocol: { warmup_runs: value } }),
  '--dimension': (value) => ({ dimensions: { sequence: value } }),
};

const isTaken = (action: () => unknown): boolean => {
  try {
    action();
    return true;
  } catch {
    return false;
  }
};

describe('an option and its key in a manifest have the same bounds', () => {
  const bounds = [0, 1, 1000, 1024, 65_536, 100_000, 1_000_000, 2 ** 31 - 1];
  const numbers = [-1, 0.5, 1.5, 1000.5, ...bounds, ...bounds.map((bound) => bound + 1)];
  const options = new Map(optionsOfRun().map((option) => [option.long, option]));
  for (const [long, inManifest] of Object.entries(NUMBERS)) {
    test(long, () => {
      for (const value of numbers) {
        const text = long === '--dimension' ? `sequence=${value}` : String(value);
        const byOption = isTaken(() => options.get(long)?.parseArg?.(text, undefined));
        const byManifest = isTaken(() =>
          assertOfSchema('evaluation-manifest', { ...EVALUATION, ...inManifest(value) }),
        );
        assert.equal(byOption, byManifest, `${long} ${text}`);
      }
    });
  }
});

/**
 * Settings without an option: `dlbricks validate` measures whole models, a generation needs a manifest's decoders, and a
 * command line has a matrix by lists in its options.
 */
const OF_MANIFESTS = ['measure_end_to_end', 'generation', 'matrix'];

test('every setting is an option of `dlbricks run`, except those of other commands and of manifests only', () => {
  const optional = Object.values(IN_EVALUATIONS).flatMap((part) => ('settings' in part ? [part.settings] : []));
  const keys = optional.flatMap((settings) => Object.keys(settings as object));
  assert.deepEqual([...new Set(keys), ...OF_MANIFESTS].sort(), Object.keys(settingsSchema.shape).sort());
});
