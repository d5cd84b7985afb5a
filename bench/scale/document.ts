import { UNKNOWN } from '../../src/base/format-ms.js';
import { counted } from '../../src/base/counted.js';
import { storeBytesOf, type Fleet, loadsOf, ratesOf } from './extrapolate.js';
import { cpuMsPerBrick, medianOf, overheadOf, type RunFigures } from './figures.js';
import type { ProcessRole } from './processes.js';
import type { Recorded, RecordedSizes } from './recorded.js';

/** The fleet that the document calculates. */
const FLEET = { agents: 1000, measurements: 10_000_000, evaluationBricks: 10_000 };

const ROLES: readonly ProcessRole[] = ['agent', 'server', 'plugin', 'broker', 'database'];

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function header(titles: readonly string[]): readonly string[] {
  return [line(titles), line(titles.map((_, index) => (index === 0 ? '---' : '---:')))];
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Three significant digits. */
function figure(value: number | null): string {
  return value === null ? UNKNOWN : Number(value.toPrecision(3)).toLocaleString('en-US');
}

function megabytes(bytes: number): string {
  return figure(bytes / 1e6);
}

/** The median with the range where there are several. */
function spread(values: readonly number[], show: (value: number) => string): string {
  const median = medianOf(values);
  if (median === null) return UNKNOWN;
  if (values.length === 1) return show(median);
  return `${show(median)} (${show(Math.min(...values))} to ${show(Math.max(...values))})`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function titleOf({ database, servers, brickMs }: Recorded): string {
  return `${database}, ${brickMs} ms, ${counted(servers, 'server')}`;
}

/** A row of the table of runs: its title, and its cell for the runs of one column. */
interface Row {
  readonly title: string;
  readonly of: (runs: readonly RunFigures[]) => string;
}

function perSecond(values: (run: RunFigures) => number): Row['of'] {
  return (runs) =>
    spread(
      runs.map((run) => (values(run) * 1000) / run.wallMs),
      figure,
    );
}

const ROWS: readonly Row[] = [
  {
    title: 'ideal (s)',
    of: (runs) =>
      spread(
        runs.map(({ idealMs }) => idealMs),
        seconds,
      ),
  },
  {
    title: 'wall time (s)',
    of: (runs) =>
      spread(
        runs.map(({ wallMs }) => wallMs),
        seconds,
      ),
  },
  { title: 'longer than ideal', of: (runs) => spread(runs.map(overheadOf), percent) },
  { title: 'bricks measured per second', of: perSecond(({ bricks }) => bricks) },
  { title: 'items, each published, delivered and acknowledged, per second', of: perSecond(({ items }) => items) },
  {
    title: 'pause of an agent between two items, median (ms)',
    of: (runs) =>
      spread(
        runs.flatMap(({ gapMs }) => gapMs ?? []),
        figure,
      ),
  },
  {
    title: 'from the submission to the first wait (s)',
    of: (runs) =>
      spread(
        runs.flatMap(({ beforeMs }) => beforeMs ?? []),
        seconds,
      ),
  },
  {
    title: 'from the end of the last wait to the end (s)',
    of: (runs) =>
      spread(
        runs.flatMap(({ afterMs }) => afterMs ?? []),
        seconds,
      ),
  },
  {
    title: 'busy cores, all processes',
    of: (runs) =>
      spread(
        runs.map(({ roles, wallMs }) => Object.values(roles).reduce((sum, { cpuMs }) => sum + cpuMs, 0) / wallMs),
        figure,
      ),
  },
];

function runsTable(all: readonly Recorded[]): readonly string[] {
  const rows = ROWS.map(({ title, of }) => ({ title, cells: all.map(({ runs }) => of(runs)) }));
  const known = rows.filter(({ cells }) => cells.some((cell) => cell !== UNKNOWN));
  return [...header(['', ...all.map(titleOf)]), ...known.map(({ title, cells }) => line([title, ...cells]))];
}

function processesTable(all: readonly Recorded[]): readonly string[] {
  const rows = all.flatMap((recorded) =>
    ROLES.flatMap((role) => {
      const ones = recorded.runs.flatMap(({ roles }) => roles[role] ?? []);
      const [first] = ones;
      if (first === undefined) return [];
      const peak = Math.max(...ones.map(({ peakBytes }) => peakBytes));
      const share = medianOf(ones.map(({ shareBytes }) => shareBytes)) ?? 0;
      const cpu = figure(cpuMsPerBrick(recorded.runs, role));
      return [line([titleOf(recorded), role, String(first.processes), megabytes(peak), megabytes(share), cpu])];
    }),
  );
  const titles = [
    '',
    'process',
    'number',
    'largest peak (MB)',
    'own share (MB)',
    'processor time per brick, all of them (ms)',
  ];
  return [...header(titles), ...rows];
}

function fleetOf({ brickMs }: Recorded): Fleet {
  return { ...FLEET, brickMs };
}

function ratesLines(fleet: Fleet): readonly string[] {
  const { hours, bricksPerSecond, itemBricks, itemsPerSecond, beatsPerSecond, looksPerSecond } = ratesOf(fleet);
  return [
    ...header(['', 'where nothing saturates']),
    line(['wall time (minutes)', figure(hours * 60)]),
    line(['measurements stored per second', figure(bricksPerSecond)]),
    line(['bricks of an item', figure(itemBricks)]),
    line(['items per second', figure(itemsPerSecond)]),
    line(['heartbeats of agents, written per second', figure(beatsPerSecond)]),
    line(['reads of agents to check whether work is still wanted, per second', figure(looksPerSecond)]),
  ];
}

function loadsTable(recorded: Recorded): readonly string[] {
  const titles = [
    '',
    'processor time per brick (ms)',
    'agents for one core',
    `cores for ${count(FLEET.agents)} agents`,
  ];
  return [
    ...header(titles),
    ...loadsOf(recorded.runs, fleetOf(recorded)).map(({ role, cpuMs, agentsPerCore, cores }) => {
      return line([role, figure(cpuMs), figure(agentsPerCore), figure(cores)]);
    }),
  ];
}

function sizesLines({ database, sizes }: RecordedSizes): readonly string[] {
  const last = sizes.at(-1);
  if (last === undefined) return [];
  const { documents, indexes } = storeBytesOf(last, FLEET.measurements);
  const columns = sizes.map(({ measurements }) => `of ${count(measurements)} on the disk of ${database} (bytes each)`);
  const disk = (of: (size: (typeof sizes)[number]) => number | null): string[] => sizes.map((size) => figure(of(size)));
  return [
    ...header(['', 'in MongoDB, not compressed (bytes each)', ...columns, `of ${count(FLEET.measurements)} (GB)`]),
    line(['document', figure(last.documentBytes), ...disk(({ diskBytes }) => diskBytes), figure(documents / 1e9)]),
    ...indexes.map(({ name, bytes }, index) => {
      const key = figure(last.indexes[index]?.keyBytes ?? null);
      const onDisk = disk((size) => size.indexes[index]?.diskBytes ?? null);
      return line([`index \`${name}\``, key, ...onDisk, figure(bytes / 1e9)]);
    }),
  ];
}

/** The machines and dates of runs, one line for each. */
function machinesAndStores(all: readonly Recorded[]): readonly string[] {
  return all.map((recorded) => {
    const { machine, date, agents, runs } = recorded;
    const bricks = count(runs[0]?.bricks ?? 0);
    const repeats = counted(runs.length, 'run');
    return `- ${titleOf(recorded)}: ${agents} agents, ${bricks} bricks, ${repeats}. ${machine}. ${date}.`;
  });
}

/**
 * docs/scale.md.
 *
 * @param analysis text that a person wrote; it is kept unchanged
 */
export function scaleDocument(all: readonly Recorded[], sizes: readonly RecordedSizes[], analysis: string): string {
  const [first] = all;
  return [
    '# Scale',
    '',
    'Written by `make bench-scale`. A person wrote the *Analysis*; it stays when the figures change.',
    '',
    'Real processes on one machine: RabbitMQ, a database with the wire protocol of MongoDB, servers with their plugins, and',
    'agents. An agent does all of its usual work, but it waits instead of measuring. Its wait for a brick is 0.5 to 1.5',
    'times the mean time to measure one. Its wait for an item is the sum of the waits for its bricks.',
    '*Ideal* is the sum of all waits divided by the number of agents. *Wall time* is from the submission to the last event',
    'of the last evaluation. The values are medians, with the range of all runs.',
    '',
    ...machinesAndStores(all),
    '',
    '## Runs',
    '',
    ...runsTable(all),
    '',
    '## Processes',
    '',
    '*Own share*: memory that several processes share counts once, divided among them.',
    '',
    ...processesTable(all),
    '',
    ...(first === undefined ? [] : fleetLines(first)),
    ...sizes.flatMap((one) => ['## Size of the store', '', `${one.date}.`, '', ...sizesLines(one), '']),
    analysis.trim() === '' ? '## Analysis' : analysis.trim(),
    '',
  ].join('\n');
}

function fleetLines(first: Recorded): readonly string[] {
  return [
    `## ${count(FLEET.agents)} agents, ${count(FLEET.measurements)} measurements`,
    '',
    `Calculated: evaluations of ${count(FLEET.evaluationBricks)} bricks each, with the processor times of`,
    `*${titleOf(first)}*. The process that saturates first comes first.`,
    '',
    ...ratesLines(fleetOf(first)),
    '',
    ...loadsTable(first),
    '',
  ];
}
