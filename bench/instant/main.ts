import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mean } from '../../src/base/mean.js';
import { percent } from '../../plugins/dlbricks/report/figures.js';
import { connectAgent } from '../../src/agent/client/agent-client.js';
import { cacheOptimizedGraphs } from '../../src/agent/client/optimized-graph-cache.js';
import { startAgent } from '../../src/agent/services/server.js';
import { machineFolder } from '../../src/cli/machine-folder.js';
import { identifySystem, buildRunOptions } from '../../src/plugin-api.js';
import { openStore } from '../../src/store/open-store.js';
import { configurations } from '../accuracy/configurations.js';
import { analysisIn } from '../analysis-in.js';
import { runCommand } from '../run-command.js';
import { SUITES } from '../suites/suite.js';
import { type LeftOut, leaveOut, prepareAll } from './leave-out.js';

// `make bench-instant`: how far off predictions are for models whose bricks, or whose family's bricks, were left out. It
// reads the store of `make bench-accuracy`, and measures the bricks of both suites once, in out/instant.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENT = join(ROOT, 'docs', 'results', 'instant.md');
const SUITES_FOLDER = join(ROOT, 'out', 'instant');

const SUITE_MODELS = SUITES.flatMap(({ models }) => models.map((name) => `zoo:${name}`));

/** The part of a name before its size: resnet18 and resnet50 are one family. */
function familyOf(name: string): string {
  return /^[a-z]+/.exec(name.replace(/^(light_(bvlc_)?|icpe2020_\d+_)/, ''))?.[0] ?? name;
}

/** Measures each brick of the suites once. @throws Error where the command fails */
async function measureSuites(): Promise<void> {
  const args = ['dlbricks', 'run', ...SUITE_MODELS, '--repeat-limit', '0', '--store', join(SUITES_FOLDER, 'store')];
  await runCommand(args, { cache: SUITES_FOLDER, stdout: 'ignore' });
}

/** Models of which less is predicted have no estimate; their rows only show what is missing. */
const MAX_UNKNOWN = 0.02;

function figures(title: string, all: readonly LeftOut[]): string {
  const left = all.filter(({ unknown }) => unknown <= MAX_UNKNOWN);
  const errors = left.map(({ ofBricks }) => Math.abs(ofBricks));
  const share = (limit: number): string =>
    percent((100 * errors.filter((error) => error <= limit).length) / left.length);
  const judged = left.filter(({ holds }) => holds !== undefined);
  const wholes = left.flatMap(({ ofWhole }) => (ofWhole === undefined ? [] : Math.abs(ofWhole)));
  const cells = [
    `${left.length} of ${all.length}`,
    percent(100 * mean(errors)),
    share(0.05),
    share(0.1),
    wholes.length === 0 ? '–' : percent(100 * mean(wholes)),
    judged.length === 0 ? '–' : `${judged.filter(({ holds }) => holds).length} of ${judged.length}`,
    judged.length === 0 ? '–' : percent(100 * mean(judged.flatMap(({ halfWidth }) => halfWidth ?? []))),
  ];
  return `| ${title} | ${cells.join(' | ')} |`;
}

const signed = (value: number | undefined): string => (value === undefined ? '–' : percent(100 * value));

interface Section {
  readonly title: string;
  readonly about: string;
  readonly references: readonly string[];
  /** Has `store` and `graphs`. */
  readonly folder: string;
}

async function sectionLines({ title, about, references, folder }: Section): Promise<readonly string[]> {
  const server = await startAgent({ machineFolder: machineFolder() });
  const client = await connectAgent(server.address);
  const agent = cacheOptimizedGraphs(client, join(folder, 'graphs'));
  const store = await openStore(join(folder, 'store'), { access: 'read' });
  try {
    const system = identifySystem(client.description, buildRunOptions(1, client.description));
    const prepared = await prepareAll(references, agent, system.runOptions);
    const bricks = new Set(prepared.flatMap(({ recipe }) => recipe.bricks.map(({ signature }) => signature)));
    const byModel = await leaveOut(prepared, { store, system }, (name) => name);
    const byFamily = await leaveOut(prepared, { store, system }, familyOf);
    return [
      `## ${title}`,
      '',
      `${system.processor}, ${system.cores} cores, ${system.framework} ${system.frameworkVersion}, one thread, batch 1.`,
      `${byModel.length} models with ${bricks.size} bricks. ${about}`,
      '',
      '| left out | models | mean error | within 5 % | within 10 % | of whole models | 95 % intervals that hold | mean half width |',
      '|---|---:|---:|---:|---:|---:|---:|---:|',
      figures('the model', byModel),
      figures('its family', byFamily),
      '',
      '| model, its family left out | error | of the whole model | ± | unknown |',
      '|---|---:|---:|---:|---:|',
      ...byFamily.map(({ name, ofBricks, ofWhole, halfWidth, unknown }) => {
        return `| ${[name, signed(ofBricks), signed(ofWhole), signed(halfWidth), signed(unknown)].join(' | ')} |`;
      }),
      '',
    ];
  } finally {
    await store.close();
    await client.close();
    await server.close();
  }
}

const [configuration] = (await configurations()).filter(({ threads, batch }) => threads === 1 && batch === 1);
await measureSuites();
const sections: readonly Section[] = [
  {
    title: 'The models of the accuracy table',
    about: 'Their whole models were measured too ([accuracy.md](accuracy.md)).',
    references: configuration?.models.map(({ reference }) => reference) ?? [],
    folder: join(ROOT, 'out', 'accuracy'),
  },
  {
    title: 'The models of both suites',
    about: 'Each brick was measured once, so that there are no intervals, and no whole model was measured.',
    references: SUITE_MODELS,
    folder: SUITES_FOLDER,
  },
];
const lines = [
  '# Instant estimates',
  '',
  'Written by `make bench-instant`. A person wrote the *Analysis*; it stays when the figures change.',
  '',
  `${new Date().toISOString().slice(0, 10)}. All bricks of a model are predicted from those of the other models, or of the models of`,
  'other families (families by the first letters of their names). Errors are relative to the sum of the',
  "model's measured bricks, and to the measured whole model. Intervals are judged by the whole model.",
  'Operators that no other family has are not predicted. Both sums leave them out, and *unknown* is their share of the',
  'time. The first table has the models of which at most 2 % are unknown.',
  '',
];
for (const section of sections) lines.push(...(await sectionLines(section)));
const analysis = (await analysisIn(DOCUMENT).catch(() => '')).trim();
lines.push(analysis === '' ? '## Analysis' : analysis, '');
await mkdir(dirname(DOCUMENT), { recursive: true });
await writeFile(DOCUMENT, lines.join('\n'));
console.log(lines.join('\n'));
