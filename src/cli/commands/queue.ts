import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { tableText } from '../../command/table-text.js';
import { shortIds } from '../../base/short-ids.js';
import { type Column, filledColumns, left, right } from '../../base/text-table.js';
import type { System } from '../../measurement/system.js';
import { systemDifferences } from '../../measurement/system-differences.js';
import { computeClass } from '../../measurement/system.js';
import type { ResultStore } from '../../store/result-store.js';
import { encodeItem, itemIn } from '../../work/work-item.js';
import {
  type FailedWork,
  MAX_BODY_BYTES,
  type QueueState,
  type WorkMessage,
  type WorkQueue,
} from '../../work/work-queue.js';
import type { OwnedHost } from '../host.js';
import { queueOption } from './queue-option.js';
import { STORE, type StoreOption } from './store-option.js';

interface QueueFlags {
  readonly queue: string;
}

interface ClassRow extends QueueState {
  readonly id: string;
  readonly system: System;
}

/** Most bricks that a row names. */
const MAX_NAMED = 3;

function describeContent({ body }: WorkMessage): string {
  try {
    const signatures = itemIn(body).requests.map(({ request }) => request.benchmark.signature.slice(0, 8));
    const more = signatures.length > MAX_NAMED ? ` and ${signatures.length - MAX_NAMED} more` : '';
    return `${signatures.slice(0, MAX_NAMED).join(', ')}${more}`;
  } catch (thrown) {
    return thrown instanceof PlatformError ? 'no work of this version' : messageOf(thrown);
  }
}

/** The shown fields of work that was given up. Keeping the bodies too would fill the memory. */
interface FailedRow {
  readonly id: string;
  readonly system: string;
  readonly failedAt: string;
  readonly bricks: string;
  readonly reason: string;
}

function makeRow({ message, system, failedAt = '', reason }: FailedWork): FailedRow {
  const minutes = failedAt.slice(0, 16).replace('T', ' ');
  return { id: message.id, system, failedAt: minutes, bricks: describeContent(message), reason };
}

class Chosen {
  readonly #unknown: Set<string>;

  constructor(
    private readonly ids: readonly string[],
    private readonly all: true | undefined,
  ) {
    this.#unknown = new Set(ids);
    if ((ids.length === 0) !== (all === undefined)) return;
    throw new PlatformError('usage', 'name the work by its ids (see "queue failed"), or give --all');
  }

  has({ message: { id } }: FailedWork): boolean {
    const named = this.ids.filter((start) => id.startsWith(start));
    for (const start of named) this.#unknown.delete(start);
    return this.all === true || named.length > 0;
  }

  /** @throws PlatformError `not_found` for an id of no work */
  checkFound(): void {
    const [first] = this.#unknown;
    if (first === undefined) return;
    throw new PlatformError(
      'not_found',
      `no work that was given up has an id that begins with ${first}; see "queue failed"`,
    );
  }
}

const SHOWN_DIGITS = 8;

/** Why work cannot be queued again; undefined if it can. */
function problemWith({ message: { body }, system }: FailedWork): string | undefined {
  if (system === '') return 'is of no known kind of machines';
  if (body.length > MAX_BODY_BYTES) return `has ${body.length} bytes, more than ${MAX_BODY_BYTES}`;
  return undefined;
}

/** Removes the caller from the work. Agents skip work whose caller has ended, and take work without a caller. */
function forAnybody(message: WorkMessage): WorkMessage {
  try {
    return { ...message, body: encodeItem({ ...itemIn(message.body), wantedBy: undefined }) };
  } catch {
    // An agent of another version may understand it.
    return message;
  }
}

async function listClasses(store: ResultStore, queue: WorkQueue): Promise<readonly ClassRow[]> {
  const systems = new Map((await store.listSystems()).map((system) => [computeClass(system), system]));
  const rows: ClassRow[] = [];
  for (const [id, system] of systems) rows.push({ id, system, ...(await queue.state(id)) });
  return rows;
}

function classColumns(rows: readonly ClassRow[]): readonly Column<ClassRow>[] {
  const short = shortIds(rows.map(({ id }) => id));
  const listed = rows.map(({ system }) => system);
  // Agents of one class measure with any run options.
  const shown = ['processor', 'cores', 'framework', 'threads', 'provider', 'optimizer'] as const;
  const settings = systemDifferences(listed, shown);
  return [
    left('systems', ({ id }) => short(id)),
    left('processor', ({ system }) => system.processor),
    right('cores', ({ system }) => String(system.cores)),
    left('framework', ({ system }) => `${system.framework} ${system.frameworkVersion}`),
    ...filledColumns([left<(typeof rows)[number]>('settings', ({ system }) => settings(system))], rows),
    right('agents', ({ serving }) => String(serving)),
    right('waiting', ({ waiting }) => String(waiting)),
  ];
}

function failedColumns(rows: readonly FailedRow[]): readonly Column<FailedRow>[] {
  const short = shortIds(rows.map(({ id }) => id));
  const shortSystem = shortIds(rows.map(({ system }) => system));
  return [
    left('id', ({ id }) => short(id)),
    left('systems', ({ system }) => shortSystem(system)),
    left('given up (UTC)', ({ failedAt }) => failedAt),
    left('bricks', ({ bricks }) => bricks),
    left('reason', ({ reason }) => reason),
  ];
}

export function registerQueueCommand(program: Command, host: OwnedHost): void {
  const queues = program
    .command('queue')
    .description('Show the work that agents take from a RabbitMQ broker; retry or drop work that was given up')
    .addHelpText(
      'after',
      `
There is one queue for each kind of machine. Work that fails three times is
given up, and its reason is kept. An agent may have ended each time, for example
because a brick made it run out of memory. The work is kept until you retry or
drop it.

Examples:
  mlmodelscope queue list --queue amqp://mq.example
  mlmodelscope queue failed --queue amqp://mq.example
  mlmodelscope queue retry 3f2a91c0 --queue amqp://mq.example
  mlmodelscope queue retry --all --queue amqp://mq.example
  mlmodelscope queue drop 3f2a91c0 --queue amqp://mq.example`,
    );
  const open = (): ReturnType<typeof queueOption> => queueOption('agents take their work from').makeOptionMandatory();
  /** @param replace the work that takes the place of chosen work; undefined leaves that as it is */
  const addChoosing = (
    name: 'retry' | 'drop',
    description: string,
    replace: Parameters<WorkQueue['replaceFailed']>[0],
    inWords: (count: string) => string,
  ): void => {
    queues
      .command(name)
      .description(description)
      .argument('[ids...]', 'ids that "queue failed" shows, or their first digits')
      .option('--all', 'everything that was given up')
      .addOption(open())
      .addHelpText('after', `\nExample:\n  mlmodelscope queue ${name} 3f2a91c0 --queue amqp://mq.example`)
      .action(async (ids: readonly string[], { queue: uri, all }: QueueFlags & { readonly all?: true }) => {
        const chosen = new Chosen(ids, all);
        const queue = await host.openQueue(uri);
        const count = await queue.replaceFailed((failed) => (chosen.has(failed) ? replace(failed) : undefined));
        if (count === 0) chosen.checkFound();
        host.print(`${inWords(`${counted(count, 'piece')} of work`)}\n`);
        chosen.checkFound();
      });
  };

  queues
    .command('list')
    .description('List the kinds of machines in a store, with the agents that serve each and the work that waits')
    .addOption(open())
    .option(...STORE)
    .addHelpText('after', '\nExample:\n  mlmodelscope queue list --queue amqp://mq.example --store mongodb://HOST/DB')
    .action(async ({ queue: uri, store }: QueueFlags & StoreOption) => {
      const results = await host.openStore(store, { access: 'read' });
      const rows = await listClasses(results, await host.openQueue(uri));
      host.print(tableText(classColumns(rows), rows, ['cores', 'framework'], host));
    });

  queues
    .command('failed')
    .description('List the work that was given up, with the reasons')
    .addOption(open())
    .addHelpText('after', '\nExample:\n  mlmodelscope queue failed --queue amqp://mq.example')
    .action(async ({ queue: uri }: QueueFlags) => {
      const rows: FailedRow[] = [];
      for await (const failed of (await host.openQueue(uri)).failed()) rows.push(makeRow(failed));
      host.print(tableText(failedColumns(rows), rows, ['bricks', 'given up (UTC)', 'systems'], host));
    });

  addChoosing(
    'retry',
    'Put work that was given up into its queue again; its measurements go into the store',
    (failed) => {
      const problem = problemWith(failed);
      if (problem === undefined) return [forAnybody(failed.message)];
      host.warn(`warning: ${failed.message.id.slice(0, SHOWN_DIGITS)} ${problem}; "queue drop" removes it`);
      return undefined;
    },
    (work) => `queued ${work} again`,
  );
  addChoosing(
    'drop',
    'Remove work that was given up; it is not measured',
    () => [],
    (work) => `dropped ${work}`,
  );
}
