import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Lifetime } from '../../test/support/lifetime.js';
import { startRabbitMq } from '../../test/work/amqp/rabbitmq-process.js';
import { analysisIn } from '../analysis-in.js';
import { newDatabase } from './database.js';
import { scaleDocument } from './document.js';
import { type RunFigures, overheadOf } from './figures.js';
import { forLifetime } from './for-lifetime.js';
import { type PlatformSize, startPlatform } from './platform.js';
import { type Recorded, recordedSchema, type RecordedSizes, recordedSizesSchema } from './recorded.js';
import { runOnce } from './run.js';
import { storeSizes } from './store-size.js';

// `make bench-scale`: docs/scale.md. Measurements are kept in out/scale, a file for each database and number of
// servers. The document shows all files of that folder.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Settings {
  readonly bricks: number;
  readonly repeats: number;
  readonly out: string;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function machineHere(): string {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${cpus.length} cores of ${cpus[0]?.model ?? 'unknown'}, ${memory} GiB, Node ${process.versions.node}`;
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

async function keep(out: string, name: string, recorded: Recorded | RecordedSizes): Promise<void> {
  await mkdir(out, { recursive: true });
  await writeFile(join(out, `${slug(name)}.json`), JSON.stringify(recorded, undefined, 2));
}

/** Runs with a broker, a database and a platform of their own. */
async function benchmark(t: Lifetime, size: PlatformSize, { bricks, repeats, out }: Settings): Promise<void> {
  const database = await newDatabase(t);
  const broker = await startRabbitMq(t);
  const platform = await startPlatform(t, { database, queue: broker.uri }, size);
  const runs: RunFigures[] = [];
  for (let run = 0; run < repeats; run += 1) {
    const figures = await runOnce(platform, `run-${run}`, bricks, size);
    runs.push(figures);
    const wall = (figures.wallMs / 1000).toFixed(1);
    const { beforeMs = 0, afterMs = 0 } = figures;
    console.log(`${Math.round(beforeMs)} ms before the first wait, ${Math.round(afterMs)} ms after the last one`);
    console.log(`${size.servers} servers: ${wall} s, ${(overheadOf(figures) * 100).toFixed(1)} % longer than ideal`);
  }
  const recorded = { date: today(), machine: machineHere(), database: database.name, ...size, runs };
  await keep(out, `${database.name} ${size.brickMs} ${size.servers}`, recorded);
}

async function measureSizes(t: Lifetime, counts: readonly number[], out: string): Promise<void> {
  const database = await newDatabase(t);
  const sizes = await storeSizes(database.uri, counts);
  await keep(out, `sizes ${database.name}`, { date: today(), database: database.name, sizes: [...sizes] });
}

async function writeDocument(out: string, docs: string): Promise<void> {
  const runs: Recorded[] = [];
  const sizes: RecordedSizes[] = [];
  for (const name of (await readdir(out)).filter((file) => file.endsWith('.json')).sort()) {
    const json: unknown = JSON.parse(await readFile(join(out, name), 'utf8'));
    const recorded = recordedSchema.safeParse(json);
    if (recorded.success) runs.push(recorded.data);
    else sizes.push(recordedSizesSchema.parse(json));
  }
  runs.sort((one, other) => one.brickMs - other.brickMs || one.servers - other.servers);
  const path = join(docs, 'scale.md');
  await writeFile(path, scaleDocument(runs, sizes, await analysisIn(path)));
  console.log(path);
}

function numbers(text: string): readonly number[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: '32' },
      bricks: { type: 'string', default: '10000' },
      servers: { type: 'string', default: '1,4' },
      repeats: { type: 'string', default: '3' },
      'brick-ms': { type: 'string', default: '67' },
      sizes: { type: 'string', default: '10000,100000' },
      out: { type: 'string', default: join(ROOT, 'out', 'scale') },
      docs: { type: 'string', default: join(ROOT, 'docs') },
    },
  });
  const { out, docs } = values;
  const settings = { bricks: Number(values.bricks), repeats: Number(values.repeats), out };
  for (const servers of numbers(values.servers)) {
    const size = { agents: Number(values.agents), servers, brickMs: Number(values['brick-ms']) };
    await forLifetime((t) => benchmark(t, size, settings));
  }
  const counts = numbers(values.sizes);
  if (counts.length > 0) await forLifetime((t) => measureSizes(t, counts, out));
  await writeDocument(out, docs);
}

await main();
