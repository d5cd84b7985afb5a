import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildProvenance } from '../../../src/agent/provenance.js';
import { withSnakeKeys } from '../../../src/base/snake-case.js';
import { resultFindings } from '../../../src/command/doctor/result.js';
import { surroundingsSchema } from '../../../src/measurement/surroundings.js';
import { sampleMeasurement, SYSTEM } from '../../store/sample-measurement.js';

const PROTOCOL = { warmupRuns: 3, runs: 50, minRuns: 10, timeBudgetMs: 1000 };
const provenance = buildProvenance({ protocol: PROTOCOL });
const FAULTS = { wallMs: 100, cores: 4, majorFaults: 2 };

/** A model of a report without a finding. */
const MODEL = { name: 'net', coverage: 1, bricks: [{ occasions: 3, runs: 30, sequences: 2, latency_ms: 1 }] };

function ofModel(changes: object): object {
  return { provenance, settings: { runs: 50, warmup_runs: 3 }, models: [{ ...MODEL, ...changes }], warnings: [] };
}

function ofRuns(runMs: readonly number[]): unknown {
  const measurement = sampleMeasurement(1, { outcome: { kind: 'samples', runMs: [...runMs], warmupMs: [1] } });
  return withSnakeKeys({ provenance, measurements: [measurement] });
}

const made = (weights: 'own' | 'made_up') =>
  buildProvenance({ models: [{ name: 'net', sha256: 'a'.repeat(64), ranWith: weights }] });

describe('the doctor finds in a result', () => {
  test('nothing where nothing is doubtful', () => {
    assert.deepEqual(resultFindings(ofModel({})), []);
    // Twice a millisecond, and calls of 4 %.
    assert.deepEqual(resultFindings(ofModel({ estimate_ms: 2.08 })), []);
    assert.deepEqual(resultFindings(ofRuns([1, 1.1, 1, 1.05])), []);
    assert.deepEqual(resultFindings({ provenance: made('own'), features: [] }), []);
  });

  const cases: Readonly<Record<string, readonly [level: string, document: unknown]>> = {
    no_provenance: ['refuse', { ...ofModel({}), provenance: null }],
    no_checksum: ['info', { ...ofModel({}), provenance: buildProvenance({ models: [{ name: 'net' }] }) }],
    made_up_weights: ['refuse', { provenance: made('made_up'), features: [] }],
    few_runs: ['warn', ofModel({ runs: 3 })],
    no_warm_up: ['warn', { ...ofModel({}), settings: { runs: 50, warmup_runs: 0 } }],
    one_occasion: ['warn', ofModel({ bricks: [{ occasions: 1, runs: 30, sequences: 1, latency_ms: 1 }] })],
    binding_overhead: ['info', ofModel({ estimate_ms: 2.2 })],
    decoder: [
      'info',
      {
        provenance: { ...made('own'), surroundings: surroundingsSchema.parse({ decoder: 'sharp 1.0.0' }) },
        features: [],
      },
    ],
    page_faults: ['warn', withSnakeKeys({ provenance, measurements: [sampleMeasurement(1, { conditions: FAULTS })] })],
    wide_spread: ['warn', { ...ofModel({}), summary: { spread_percent: 6 } }],
    disturbed: ['warn', ofModel({ disturbance_percent: 12 })],
    incomplete: ['warn', ofModel({ coverage: 0.5 })],
    other_kernels: ['refuse', ofModel({ kernel_differences: [{ operator: 'Conv', of_file: 1, made_up: 2 }] })],
    made_up_values: ['warn', ofModel({ assumed_inputs: [{ name: 'ids', values: 'zeros' }] })],
    bound_dimensions: ['info', ofModel({ dimensions: [{ name: 'sequence', size: 128 }] })],
    tracing: ['refuse', { provenance, model_ms: 10, overhead_ms: 1 }],
    steal: ['warn', { ...ofModel({}), warnings: [{ cause: 'steal', message: 'stolen 3 %; wait' }] }],
    noise: ['warn', { ...ofModel({}), warnings: ['the processor ran at 1 to 2 MHz; set a fixed frequency'] }],
    slow_first_run: ['warn', ofRuns([9, 1, 1.1, 1, 1.05])],
    drift: ['warn', ofRuns(Array.from({ length: 40 }, (_, index) => 100 + index))],
  };
  for (const [id, [level, document]] of Object.entries(cases)) {
    test(id, () => {
      const [first, ...others] = resultFindings(document);
      assert.deepEqual([first?.id, first?.level, others], [id, level, []]);
      assert.ok(first?.found !== '' && first?.why !== '' && first?.remedy !== '');
    });
  }

  test('no missing checksum of a model of the zoo, which has no file', () => {
    const models = [{ name: 'net', source: { kind: 'zoo' } as const }];
    assert.deepEqual(resultFindings({ ...ofModel({}), provenance: buildProvenance({ models }) }), []);
  });

  test('which of the rows of a model it is about', () => {
    const row = { model: 'net', coverage: 1, threads: 1, disturbance_percent: 12 };
    const models = [
      { ...row, batch: 1, dimensions: 'seq=8' },
      { ...row, batch: 4, dimensions: 'seq=8' },
      { ...row, batch: 4, dimensions: 'seq=16' },
      { ...row, model: 'other', batch: 1, dimensions: 'seq=8' },
    ];
    const found = resultFindings({ ...ofModel({}), models }).find(({ id }) => id === 'disturbed')?.found;
    const rows = 'net (batch 1, seq=8), net (batch 4, seq=8), net (batch 4, seq=16), other';
    assert.equal(found, `other processes disturbed ${rows}`);
  });

  test('the same spread once, and a spread below the limit of the doctor too', () => {
    const warnings = [{ cause: 'spread', message: 'one brick varies by 6 %; measure again' }];
    const idsOf = (percent: number): readonly string[] => {
      return resultFindings({ ...ofModel({}), warnings, summary: { spread_percent: percent } }).map(({ id }) => id);
    };
    assert.deepEqual([idsOf(6), idsOf(4)], [['wide_spread'], ['spread']]);
  });

  test('how many of its series begin with a slow run', () => {
    const [slow] = resultFindings(ofRuns([9, 1, 1.1, 1, 1.05]));
    assert.equal(slow?.found, '1 of 1 series begin with a slow run');
    const [first] = (ofRuns([9, 1, 1.1, 1, 1.05]) as { measurements: readonly unknown[] }).measurements;
    const [two] = resultFindings({ provenance, measurements: [first, first] });
    assert.equal(two?.found, '2 of 2 series begin with a slow run');
  });

  test('the findings of each report and of each system', () => {
    const few = ofModel({ runs: 3 });
    for (const whole of [{ reports: [ofModel({}), few] }, { systems: [{ result: few }, { result: null }] }]) {
      assert.deepEqual(
        resultFindings(whole).map(({ id }) => id),
        ['few_runs'],
      );
    }
  });

  test('of which report a finding is that not all of them have', () => {
    const reportWith = (threads: number, runs: number, batch: number): object => {
      return {
        ...ofModel({ runs, coverage: 0.5 }),
        settings: { runs: 50, warmup_runs: 3, batch },
        system: { threads },
      };
    };
    const found = (...reports: readonly object[]) => resultFindings({ reports }).map((finding) => finding.found);
    const all = 'not measured completely: net';
    const few = 'a latency is of 3 runs';
    assert.deepEqual(found(reportWith(1, 30, 1), reportWith(2, 3, 4)), [all, `batch 4, 2 threads: ${few}`]);
    assert.deepEqual(found(reportWith(2, 30, 4), reportWith(2, 3, 4)), [all, `result 2: ${few}`]);
    assert.deepEqual(found(reportWith(2, 3, 4)), [few, all]);
  });

  test('no single occasion where most of the time was measured on several, as it is by default', () => {
    const brick = (occasions: number, latency_ms: number): object => ({
      occasions,
      runs: 30,
      sequences: 2,
      latency_ms,
    });
    const idsOf = (...bricks: readonly object[]) => resultFindings(ofModel({ bricks })).map(({ id }) => id);
    assert.deepEqual(idsOf(brick(2, 5), brick(1, 3), brick(1, 1)), []);
    assert.deepEqual(idsOf(brick(2, 5), brick(1, 3), brick(1, 3)), ['one_occasion']);
  });

  test('software that differs together with something else, and not alone', () => {
    const facts = SYSTEM;
    const reportOn = (changes: Partial<typeof facts>): object => {
      const description = { ...facts, ...changes, host: 'here', surroundings: undefined };
      return { ...ofModel({}), provenance: buildProvenance({ agent: { description } }) };
    };
    const found = (...reports: readonly object[]) =>
      resultFindings({ reports }).filter(({ level }) => level === 'refuse');
    const newer = { frameworkVersion: '9.9.9' };
    assert.deepEqual(found(reportOn({}), reportOn(newer)), []);
    assert.deepEqual(found(reportOn({}), reportOn({ processor: 'another' })), []);
    const [finding, ...others] = found(reportOn({}), reportOn({ ...newer, processor: 'another' }));
    assert.deepEqual([finding?.id, others], ['software_differs', []]);
    assert.match(finding?.found ?? '', /differ in software \(framework_version\) and in processor$/);
  });
});
