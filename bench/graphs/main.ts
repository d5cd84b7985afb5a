import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { analysisIn } from '../analysis-in.js';
import { documentOf, type Graph } from './document.js';
import { dimensionsOfGraphs, type Said, validateGraph } from './measure.js';

// `make bench-graphs`: estimates of graphs that exporters wrote against whole models, and docs/results/graphs.md. The
// graphs are those in FOLDER/graphs (test/exporters/make.sh FOLDER), the reports are kept in FOLDER/reports.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENT = join(ROOT, 'docs', 'results', 'graphs.md');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join(ROOT, 'out', 'exporters') },
    /** Seconds after which no further graph is begun; the same command goes on from there. */
    seconds: { type: 'string', default: 'Infinity' },
  },
});
const { folder } = values;
const endMs = performance.now() + Number(values.seconds) * 1000;

const reports = join(folder, 'reports');
await mkdir(reports, { recursive: true });
const dimensions = await dimensionsOfGraphs(ROOT);
const names = (await readdir(join(folder, 'graphs')))
  .filter((file) => file.endsWith('.onnx'))
  .map((file) => basename(file, '.onnx'))
  .filter((name) => positionals.length === 0 || positionals.includes(name))
  .sort();

let machine = '';
const days = new Set<string>();
const graphs: Graph[] = [];
for (const name of names) {
  if (performance.now() > endMs) {
    console.error(`${names.length - graphs.length} graphs are left; the same command goes on with them`);
    process.exit(1);
  }
  const sizes = Object.entries(dimensions[name] ?? {}).flatMap(([key, size]) => ['--dimension', `${key}=${size}`]);
  const validate = (kind: string, ...options: string[]): Promise<Said> => {
    const report = join(reports, `${name}${kind}.json`);
    return validateGraph(ROOT, join(folder, 'graphs', `${name}.onnx`), report, [...sizes, ...options]);
  };
  const said = await validate('');
  const model = said.kind === 'report' ? said.report.models[0] : undefined;
  const ofRun = model?.made_up_values == null ? undefined : await validate('-of-run', '--values-of-run');
  graphs.push({ name, said, ofRun });
  const normalized = model?.normalized_latency;
  console.error(`${name}: ${normalized == null ? 'no figures' : `${(100 * (normalized - 1)).toFixed(1)} %`}`);
  if (said.kind === 'report') {
    const { system, provenance } = said.report;
    days.add((provenance?.created_at ?? '').slice(0, 10));
    machine = `${system.processor}, ${system.cores} cores, ${system.framework} ${system.framework_version}, one thread, batch 1. ${[...days].sort().join(' and ')}.`;
  }
}
const analysis = await analysisIn(DOCUMENT);
await writeFile(DOCUMENT, [...documentOf(graphs, machine), '', analysis].join('\n').trimEnd() + '\n');
