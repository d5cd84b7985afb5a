import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { analysisIn } from '../analysis-in.js';
import { documentOf, type Graph } from './document.js';
import { dimensionsOfGraphs, modelOf, type Said, validateGraph } from './measure.js';

// `make bench-graphs`: estimates of graphs that exporters wrote against whole models, and docs/results/graphs.md. The
// graphs are those in FOLDER/graphs (test/exporters/make.sh FOLDER), the reports are kept in FOLDER/reports. All graphs
// are measured once before any is measured again, so that the occasions of a graph are in different minutes.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENT = join(ROOT, 'docs', 'results', 'graphs.md');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: join(ROOT, 'out', 'exporters') },
    occasions: { type: 'string', default: '3' },
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

const graphs: Graph[] = names.map((name) => ({ name, said: [], ofRun: [] }));
for (let occasion = 1; occasion <= Number(values.occasions); occasion++) {
  for (const { name, said, ofRun } of graphs) {
    if (performance.now() > endMs) {
      console.error(`occasion ${occasion} is not complete; the same command goes on with it`);
      process.exit(1);
    }
    const sizes = Object.entries(dimensions[name] ?? {}).flatMap(([key, size]) => ['--dimension', `${key}=${size}`]);
    const validate = (kind: string, ...options: string[]): Promise<Said> => {
      const report = join(reports, `${name}${kind}.${occasion}.json`);
      return validateGraph(ROOT, join(folder, 'graphs', `${name}.onnx`), report, [...sizes, ...options]);
    };
    const now = await validate('');
    said.push(now);
    const model = modelOf(now);
    if (model?.made_up_values != null) ofRun.push(await validate('-of-run', '--values-of-run'));
    const normalized = model?.normalized_latency;
    const error = normalized == null ? 'no figures' : `${(100 * (normalized - 1)).toFixed(1)} %`;
    console.error(`occasion ${occasion}, ${name}: ${error}`);
  }
}
const analysis = await analysisIn(DOCUMENT);
await writeFile(DOCUMENT, [...documentOf(graphs), '', analysis].join('\n').trimEnd() + '\n');
