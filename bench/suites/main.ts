import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { analysisIn } from '../analysis-in.js';
import { configurationsOf } from './configuration.js';
import { suiteDocument } from './document.js';
import { type Exported, readExport } from './exported.js';
import { sweepSuite } from './measure.js';
import { type ModelSuite, SUITES } from './suite.js';

// `make bench-suites`: docs/results/icpe2020.md and docs/results/modern.md. With files, it measures nothing and writes the data of
// these exports of `dlbricks run`, `validate` and `sweep`. Measurements are kept in out/suites, so that an interrupted
// run continues.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const OUT = join(ROOT, 'out', 'suites');

async function plotsOf({ name }: ModelSuite, docs: string): Promise<readonly string[]> {
  const files = await readdir(join(docs, name)).catch(() => []);
  return files
    .filter((file) => file.endsWith('.svg'))
    .sort()
    .map((file) => `${name}/${file}`);
}

/** Writes the document of a suite; nothing where no export has a model of it. */
async function writeDocument(suite: ModelSuite, exports: readonly Exported[], docs: string): Promise<void> {
  const configurations = configurationsOf(exports, suite.models);
  if (configurations.length === 0) return;
  const path = join(docs, `${suite.name}.md`);
  const plots = await plotsOf(suite, docs);
  const analysis = await analysisIn(path);
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(path, suiteDocument(suite, configurations, { date, plots, analysis }));
  console.log(path);
}

async function main(): Promise<void> {
  const { values, positionals: files } = parseArgs({
    allowPositionals: true,
    options: {
      suite: { type: 'string', multiple: true, default: SUITES.map(({ name }) => name) },
      docs: { type: 'string', default: join(ROOT, 'docs', 'results') },
    },
  });
  const { docs } = values;
  await mkdir(docs, { recursive: true });
  await mkdir(OUT, { recursive: true });
  const suites = SUITES.filter(({ name }) => values.suite.includes(name));
  if (files.length > 0) {
    const exports = (await Promise.all(files.map(readExport))).flat();
    for (const suite of suites) await writeDocument(suite, exports, docs);
    return;
  }
  for (const suite of suites) {
    await writeDocument(suite, await readExport(await sweepSuite(suite, { root: ROOT, out: OUT, docs })), docs);
  }
}

await main();
