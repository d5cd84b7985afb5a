import { randomUUID } from 'node:crypto';
import type { EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import { isFinal } from '../../src/evaluation/event.js';
import type { Submission } from '../../src/evaluation/submission.js';
import { chain } from '../../test/cli/support/tiny-models.js';
import { type BrickSeries, totalWaitMs } from './bricks.js';
import { type RunFigures, runFiguresOf } from './figures.js';
import type { PlatformSize, ScalePlatform } from './platform.js';
import { SCALE, scaleResultSchema } from './plugin.js';
import { type ProcessFigures, processesBelow } from './processes.js';

/** An evaluation of a series. It names a model, because every evaluation does. JSON is YAML. */
function submissionOf({ name, bricks }: BrickSeries): Submission {
  const manifest = {
    dlspec: 'evaluation/v1',
    name,
    version: '1.0.0',
    plugin: SCALE,
    models: ['model.onnx'],
    settings: { name, bricks },
  };
  const files = new Map([
    ['evaluation.yml', Buffer.from(JSON.stringify(manifest))],
    ['model.onnx', chain(['Relu'])],
  ]);
  return { manifestPath: 'evaluation.yml', files, graphs: new Map() };
}

/** @throws Error where a brick is not measured */
async function evaluate(client: EvaluationClient, series: BrickSeries): Promise<void> {
  const id = randomUUID();
  await client.submit(id, submissionOf(series));
  for await (const { event } of client.follow(id, 0)) {
    if (!isFinal(event)) continue;
    if (event.kind !== 'done') throw new Error(`the evaluation of ${series.name} is ${JSON.stringify(event)}`);
    const { bricks, measured } = scaleResultSchema.parse(JSON.parse(event.resultJson ?? 'null'));
    if (measured !== bricks) throw new Error(`of ${bricks} bricks of ${series.name}, ${measured} were measured`);
  }
}

/**
 * A series for each server, with equal shares; the first servers get one brick more where the number does not divide.
 */
function seriesFor(name: string, bricks: number, servers: number): readonly BrickSeries[] {
  return Array.from({ length: servers }, (_, index) => {
    const share = Math.floor(bricks / servers) + (index < bricks % servers ? 1 : 0);
    return { name: `${name}-${index + 1}`, bricks: share };
  });
}

function cpuSince(before: readonly ProcessFigures[], after: readonly ProcessFigures[]): readonly ProcessFigures[] {
  const earlier = new Map(before.map(({ pid, cpuMs }) => [pid, cpuMs]));
  return after.map((one) => ({ ...one, cpuMs: one.cpuMs - (earlier.get(one.pid) ?? 0) }));
}

/**
 * Has every server evaluate its share of new bricks, all at once, and waits until the last one has ended.
 *
 * @param name of this run; unique in its store
 */
export async function runOnce(
  { clients, takeItems, databasePid }: ScalePlatform,
  name: string,
  bricks: number,
  size: PlatformSize,
): Promise<RunFigures> {
  const series = seriesFor(name, bricks, clients.length);
  const idealMs = series.reduce((sum, one) => sum + totalWaitMs(one, size.brickMs), 0) / size.agents;
  takeItems();
  const before = processesBelow(process.pid, databasePid);
  const startMs = performance.now();
  await Promise.all(clients.map((client, index) => evaluate(client, series[index] as BrickSeries)));
  const wallMs = performance.now() - startMs;
  const processes = cpuSince(before, processesBelow(process.pid, databasePid));
  const items = takeItems().map((item) => ({ ...item, toldMs: item.toldMs - startMs }));
  return runFiguresOf({ bricks, idealMs, wallMs, items, processes });
}
