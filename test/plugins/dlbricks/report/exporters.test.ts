import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ModelResult } from '../../../../plugins/dlbricks/report/evaluation-result.js';
import type { Report } from '../../../../plugins/dlbricks/report/report-schema.js';
import { buildReport } from '../../../../plugins/dlbricks/report/report.js';
import { reportPage } from '../../../../plugins/dlbricks/report/report-page.js';
import { reportResult } from '../../../../plugins/dlbricks/report/show-report.js';
import { toTable } from '../../../../plugins/dlbricks/report/table.js';
import { TABLE_EXPORTERS } from '../../../../src/base/exporters/index.js';
import { htmlPage } from '../../../../src/web/page.js';
import { SYSTEM } from '../../../store/sample-measurement.js';
import { endToEndOf, estimateOf, MISSING, resultOf, SETTINGS } from './sample-result.js';

const json = (report: Report): string => TABLE_EXPORTERS.json(reportResult([report]));
const csv = (report: Report): string => TABLE_EXPORTERS.csv(reportResult([report]));
const markdown = (report: Report): string => TABLE_EXPORTERS.markdown(reportResult([report]));

function reportWith(...models: readonly ModelResult[]): Report {
  return buildReport(resultOf(models), SETTINGS);
}

function named(name: string): Report {
  return reportWith({ estimate: estimateOf(name, 10.9), endToEnd: endToEndOf(0, 9.8, 5000, 10.2) });
}

const good = named('resnet50');
const bricksOnly = reportWith({ estimate: estimateOf('resnet50', 10.9), endToEnd: undefined });
const partial = reportWith({
  estimate: estimateOf('resnet50', 10.9, { coverage: 0.25, missing: Array.from({ length: 7 }, () => MISSING) }),
  endToEnd: endToEndOf(0, 10, 5000, undefined),
});

/** ESC [ 2 J clears a terminal's screen; U+009B is ESC [ as one character. */
const HOSTILE = 'x\u001b[2J\u0007\u009b31m\r\ny';

/** All control characters of a terminal except line breaks. */
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

describe('json', () => {
  test('is the report, and ends with a line break', () => {
    assert.deepEqual(JSON.parse(json(good)), good);
    assert.ok(json(good).endsWith('}\n'));
  });
});

describe('csv', () => {
  const HEADER =
    'name,layers,unique_bricks,coverage,estimate_ms,estimate_low_ms,estimate_high_ms,parallelism,end_to_end_ms,end_to_end_first_ms,end_to_end_repeat_ms,normalized_latency,missing,evaluation,system,threads,batch,dimensions,tokens_per_second,settings,throughput_per_second,predicted_percent';
  /** The system, threads and batch of the sample, which has no open dimensions, tokens or settings. */
  const CONDITIONS = `${SYSTEM.fingerprint},${SYSTEM.runOptions.threads},${SETTINGS.batch},,,`;

  test('has a header and one row per model, with every digit', () => {
    const [, row] = csv(good).split('\r\n');
    assert.equal(
      csv(reportWith(...[1, 2].map(() => ({ estimate: estimateOf('m', 1), endToEnd: undefined })))).split('\r\n')
        .length,
      4,
    );
    assert.equal(csv(good).split('\r\n')[0], HEADER);
    assert.equal(row, `resnet50,8,2,1,10.9,9.9,11.9,2,10,9.8,10.2,${10.9 / 10},0,,${CONDITIONS},${1000 / 10.9},0`);
  });

  test('leaves unknown fields empty', () => {
    assert.equal(
      csv(bricksOnly).split('\r\n')[1],
      `resnet50,8,2,1,10.9,9.9,11.9,2,,,,,0,,${CONDITIONS},${1000 / 10.9},0`,
    );
    assert.equal(csv(partial).split('\r\n')[1], `resnet50,8,2,0.25,10.9,9.9,11.9,2,10,10,,,8,,${CONDITIONS},,0`);
  });
});

describe('markdown', () => {
  const rows = (report: Report): readonly string[] => markdown(report).split('\n');

  test('is a table with the same number of cells in each row, and a list', () => {
    const table = rows(good).filter((line) => line.startsWith('|'));
    assert.equal(table.length, 3);
    assert.deepEqual(
      table.map((line) => line.split('|').length),
      [13, 13, 13],
    );
    assert.match(table[1] ?? '', /^\| --- \| ---: \|/);
    assert.ok(rows(good).some((line) => line.startsWith('- normalized latency: geometric mean 1.090')));
  });
});

describe('table', () => {
  const plain = (report: Report): string => toTable([report], { color: false });

  test('has no escape codes without colour, and some with it', () => {
    assert.doesNotMatch(plain(partial), CONTROL);
    assert.ok(toTable([partial], { color: true }).includes('\u001b['));
  });

  test('shows the figures of a model', () => {
    const row = plain(good)
      .split('\n')
      .find((line) => line.includes('resnet50'));
    const cells = (row ?? '').split('│').map((cell) => cell.trim());
    assert.deepEqual(cells.slice(1, -1), ['resnet50', '10.90 ± 9.2 %', '10.00', '+9.0 %']);
  });

  test('has all columns on request', () => {
    const row = toTable([good], { color: false, wide: true })
      .split('\n')
      .find((line) => line.includes('resnet50'));
    const cells = (row ?? '').split('│').map((cell) => cell.trim());
    const estimate = ['10.90 ± 9.2 %', '2.00'];
    assert.deepEqual(cells.slice(1, -1), [
      'resnet50',
      '1',
      '1',
      '8',
      '2',
      ...estimate,
      '10.00',
      '4.1 %',
      '+9.0 %',
      '1.090',
    ]);
  });

  test('has no columns for whole models that were not measured', () => {
    assert.match(plain(good), /measured \(ms\)/);
    assert.doesNotMatch(plain(bricksOnly), /measured \(ms\)|error/);
  });

  test('marks a partial estimate, names the first missing bricks and counts the rest', () => {
    const text = plain(partial);
    assert.match(text, /part: 10\.90 ± 9\.2 %/);
    assert.match(text, /25\.0 %/);
    assert.equal(
      text.split('\n').filter((line) => line.includes('3 x Conv+Relu (1x3x8x8, 4x3x3x3): crashed: gone')).length,
      5,
    );
    assert.match(text, /and 3 more; --export-json/);
  });

  test('shows two missing bricks of the same operators with their shapes', () => {
    const missing = [MISSING, { ...MISSING, shapes: ['1x64x8x8', '64x64x3x3'] }];
    const estimate = estimateOf('resnet50', 10.9, { coverage: 0.25, missing });
    const text = plain(reportWith({ estimate, endToEnd: undefined }));
    assert.deepEqual(text.match(/missing .*:/g), [
      'missing 3 x Conv+Relu (1x3x8x8, 4x3x3x3): crashed:',
      'missing 3 x Conv+Relu (1x64x8x8, 64x64x3x3): crashed:',
    ]);
  });

  test('names the graphs from which a model was extended, and the reason if it was not extended', () => {
    const blocks = { first: 1, length: 40, count: 32 };
    const extended = {
      kind: 'extended',
      optimizedWith: [2, 3],
      blocks,
      wholeBytes: 32e9,
      shortenedBytes: 5e9,
    } as const;
    const whole = { kind: 'whole', reason: 'two and three blocks have other kernels' } as const;
    const text = plain(
      reportWith(
        { estimate: estimateOf('large', 10.9), endToEnd: undefined, extension: extended },
        { estimate: estimateOf('odd', 10.9), endToEnd: undefined, extension: whole },
      ),
    );
    assert.match(text, /│ large +│ 2 and 3 of 32 blocks │/);
    assert.match(text, /│ odd +│ - +│/);
    assert.match(
      text,
      /large: extended from graphs with 2 and 3 of its 32 blocks of 40 layers, with at most 5.* of 32.* of weights/,
    );
    assert.match(text, /odd: its whole graph was optimized: two and three blocks have other kernels/);
    assert.doesNotMatch(plain(bricksOnly), /extended from/);
  });

  test('shows an unknown interval as unknown', () => {
    const estimate = estimateOf('once', 5, { sequential: { ms: 5, lowMs: undefined, highMs: undefined } });
    assert.match(plain(reportWith({ estimate, endToEnd: undefined })), /5\.000 ± - │/);
  });

  test('says what the layer cut means', () => {
    for (const report of [good, bricksOnly]) assert.match(plain(report), /estimates are expected to be too high/);
  });
});

describe('names and reasons with control characters', () => {
  const hostile = buildReport(
    resultOf(
      [
        {
          estimate: estimateOf(HOSTILE, 10.9, {
            coverage: 0.5,
            missing: [{ ...MISSING, operators: [HOSTILE], reason: HOSTILE }],
          }),
          endToEnd: undefined,
        },
      ],
      { system: { ...SYSTEM, processor: HOSTILE, framework: HOSTILE, frameworkVersion: HOSTILE } },
    ),
    SETTINGS,
  );
  const harmless = JSON.parse(JSON.stringify(hostile).replaceAll(JSON.stringify(HOSTILE).slice(1, -1), 'x')) as Report;

  for (const [format, write] of Object.entries({
    table: (report: Report) => toTable([report], { color: false }),
    markdown,
  })) {
    test(`are shown without them, each in its line: ${format}`, () => {
      assert.doesNotMatch(write(hostile), CONTROL);
      assert.equal(write(hostile).split('\n').length, write(harmless).split('\n').length);
    });
  }
  test('are escaped: json', () => assert.doesNotMatch(json(hostile), /[\u0000-\u0009\u000b-\u001f]/));
});

describe('the reports of a sweep', () => {
  const [small, large] = [1, 8].map((batch) => {
    const result = resultOf([
      { estimate: estimateOf('one', 10 * batch), endToEnd: undefined },
      { estimate: estimateOf('other', 20 * batch), endToEnd: undefined },
    ]);
    return buildReport(result, { ...SETTINGS, batch });
  });
  assert.ok(small !== undefined && large !== undefined);
  const sweep = [small, large];

  test('are one table with a row for each model and configuration, those of a model together', () => {
    const rows = toTable(sweep, { color: false })
      .split('\n')
      .flatMap((line) => (/^│ (one|other)/.test(line) ? [line.split('│').map((cell) => cell.trim())] : []));
    assert.deepEqual(
      rows.map((cells) => cells.slice(1, 4)),
      [
        ['one', '1', '1'],
        ['one', '8', '1'],
        ['other', '1', '1'],
        ['other', '8', '1'],
      ],
    );
  });

  test('are one document and one table of each format, with batch and threads in every row', () => {
    const result = reportResult(sweep);
    assert.deepEqual(JSON.parse(TABLE_EXPORTERS.json(result)), { reports: sweep });
    const [header = '', ...rows] = TABLE_EXPORTERS.csv(result).trim().split('\r\n');
    const [batch, threads] = ['batch', 'threads'].map((key) => header.split(',').indexOf(key));
    assert.deepEqual(
      rows.map((row) => [row.split(',')[0], row.split(',')[batch ?? -1], row.split(',')[threads ?? -1]]),
      [
        ['one', '1', '1'],
        ['one', '8', '1'],
        ['other', '1', '1'],
        ['other', '8', '1'],
      ],
    );
    assert.match(TABLE_EXPORTERS.markdown(result), /^\| model \| batch \| threads \|/);
    assert.match(TABLE_EXPORTERS.markdown(result), /^\| one \| 8 \| 1 \|/m);
  });

  test('keep on a narrow terminal the columns in which rows differ, and leave out those in which they do not', () => {
    const text = toTable(sweep, { color: false, width: 50, wide: true });
    assert.match(text, /│ model +│ batch │ unique bricks │/);
    assert.match(text, /^This terminal is too narrow for: threads,/m);
  });
});

test('figures that cannot be computed, because a time is 0 or too large, are shown as unknown', () => {
  const none = { ...estimateOf('none', 0), sequential: { ms: 0, lowMs: 0, highMs: 0 } };
  const endless = { ...estimateOf('endless', 1e308), sequential: { ms: 1e308, lowMs: NaN, highMs: NaN } };
  const report = reportWith(
    { estimate: none, endToEnd: endToEndOf(0, 0, 0, 0) },
    { estimate: endless, endToEnd: undefined },
  );
  for (const text of [toTable([report], { color: false, wide: true }), csv(report), json(report), markdown(report)]) {
    assert.doesNotMatch(text, /NaN|Infinity/);
  }
});

describe('page', () => {
  const htmlOf = (...reports: readonly Report[]): string =>
    htmlPage([{ result: () => reportResult(reports), page: () => reportPage(reports) }]);

  test('says what was measured on what, and how good the estimates are', () => {
    const { title, verdict } = reportPage([good]);
    assert.match(title, new RegExp(`^Latency of resnet50 on .*${SYSTEM.framework}`));
    assert.match(verdict ?? '', /^The estimate is off by 9\.0 %\./);
    assert.match(reportPage([bricksOnly]).verdict ?? '', /^1 of 1 model estimated: .*No whole model was measured/);
    assert.match(
      reportPage([bricksOnly, bricksOnly]).verdict ?? '',
      /^2 of 2 rows estimated\. No whole model was measured/,
    );
  });

  test('gives the interval and the samples of an estimate with its number', () => {
    assert.match(htmlOf(good), /<td class="right" title="estimate 10\.90 ms; [^"]*interval[^"]*timed runs?; coverage/);
  });

  test('lists what is missing with its reason', () => {
    assert.match(htmlOf(partial), /<h2>Missing<\/h2>/);
    assert.doesNotMatch(htmlOf(good), /<h2>Missing<\/h2>/);
  });

  test('names the machine where several are on one page', () => {
    const other = { ...good, system: { ...good.system, processor: 'Other CPU' } };
    assert.match(htmlOf(good, other), /<span class="name">resnet50, [^<]*, Other CPU<\/span>/);
  });
});
