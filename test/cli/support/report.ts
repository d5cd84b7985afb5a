import assert from 'node:assert/strict';
import { type Report, reportSchema } from '../../../plugins/dlbricks/report/report-schema.js';
import type { Ending } from './command.js';

/** The JSON document on standard output; fails where standard output has anything else. */
export function reportIn({ stdout }: Pick<Ending, 'stdout'>): Report {
  return reportSchema.parse(JSON.parse(stdout));
}

/** A report's findings on models, without the time of the command and the time that it took. */
export function findingsIn(ending: Pick<Ending, 'stdout'>) {
  const { summary, models, provenance, ...rest } = reportIn(ending);
  return {
    ...rest,
    provenance: { ...provenance, created_at: undefined },
    models: models.map(({ preparing_seconds: _preparing, ...model }) => model),
    summary: { ...summary, costs: undefined, ratios: undefined },
  };
}

/** The numbers of a plan on standard error: measurements to take, and those found in the store. */
export function planIn({ stderr }: Ending): { readonly toMeasure: number; readonly known: number } {
  const said = /(?<toMeasure>\d+) measurements? to take, (?<known>\d+) known already/.exec(stderr)?.groups;
  assert(said !== undefined, `no plan on standard error:\n${stderr}`);
  return { toMeasure: Number(said['toMeasure']), known: Number(said['known']) };
}

/** Fails unless this is one message for people: no stack trace, no escape codes, nothing on standard output. */
export function assertOneMessage({ stdout, stderr }: Ending): void {
  assert.equal(stdout, '');
  assert.doesNotMatch(stderr, /^\s+at .+:\d+/m, 'a stack trace');
  assert.doesNotMatch(stderr, /unexpected error|\bundefined\b|\[object /);
  assert.notEqual(stderr.trim(), '');
}
