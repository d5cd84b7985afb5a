import type { Command } from 'commander';
import { PlatformError } from '../../base/errors.js';
import { drawTable } from '../../base/text-table.js';
import { connectEvaluations, type EvaluationClient } from '../../evaluation/client/evaluation-client.js';
import type { LoggedEvent } from '../../evaluation/event.js';
import type { EvaluationSummary } from '../../evaluation/wire/record-wire.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { addressOption, SERVER_VARIABLE } from '../address.js';
import { DEFAULT_SERVER, type DoneEvent, leave, printOutcome, resultOf, showToEnd } from '../evaluations.js';
import { evaluationId } from '../evaluation-id.js';
import type { OwnedHost } from '../host.js';
import { documentOf, documentText } from '../json-documents.js';

interface ServerFlags {
  readonly server: HostPort;
  readonly json?: true;
}

const LISTED = 100;

/** The last event in a few words. */
function inWords(last: LoggedEvent | undefined): string {
  switch (last?.event.kind) {
    case undefined:
      return 'nothing has happened yet';
    case 'waiting':
      return `waiting: ${last.event.reason}`;
    case 'started':
      return `started on the agent at ${last.event.agent}`;
    case 'planned':
      return last.event.summary;
    case 'measuring':
      return `measuring ${last.event.done} of ${last.event.total}: ${last.event.label}`;
    case 'estimate':
      return `estimate of ${last.event.model} ready`;
    case 'note':
      return last.event.message;
    case 'done':
      return last.event.partial ? 'done, in part' : 'done';
    case 'failed':
      return `failed: ${last.event.message}`;
    case 'cancelled':
      return 'cancelled';
  }
}

/** The last event of an evaluation that is done, with its result. */
async function doneEvent(client: EvaluationClient, id: string, { sequence }: LoggedEvent): Promise<DoneEvent> {
  for await (const { event } of client.follow(id, sequence - 1)) if (event.kind === 'done') return event;
  throw new PlatformError('internal', 'the server sent no end of the evaluation');
}

function table(evaluations: readonly EvaluationSummary[]): string {
  const rows = evaluations.map(({ id, name, plugin, state, submittedAt, changedAt }) => {
    return [id, name, plugin, state, submittedAt, changedAt];
  });
  return `${drawTable({ titles: ['id', 'name', 'plugin', 'state', 'submitted', 'changed'], rows })}\n`;
}

/** `mlmodelscope evaluations list|show|follow|cancel`: the evaluations of a server. */
export function registerEvaluationsCommand(program: Command, host: OwnedHost): void {
  const evaluations = program
    .command('evaluations')
    .description("Show, follow and cancel a server's evaluations")
    .addHelpText('after', '\nExamples:\n  mlmodelscope evaluations list\n  mlmodelscope evaluations follow ID');

  function add(name: string, description: string, argument?: string): Command {
    const example = `mlmodelscope evaluations ${name}${argument === undefined ? '' : ' ID'}`;
    const command = evaluations
      .command(name)
      .description(description)
      .addHelpText('after', `\nExample:\n  ${example}`)
      .addOption(addressOption('--server <host:port>', 'address of the server', DEFAULT_SERVER).env(SERVER_VARIABLE));
    return argument === undefined
      ? command
      : command.argument(argument, 'id that the submission printed, its first digits, or latest');
  }

  async function withServer<T>({ server }: ServerFlags, use: (client: EvaluationClient) => Promise<T>): Promise<T> {
    const client = connectEvaluations(formatHostPort(server), { security: host.security.client });
    return use(client).finally(() => client.close());
  }

  add('list', `The latest ${LISTED}, newest first`)
    .option('--json', 'as JSON')
    .action((flags: ServerFlags) =>
      withServer(flags, async (client) => {
        const listed = await client.list(LISTED);
        if (flags.json === true) host.print(documentText('evaluations', [...listed]));
        else host.print(table(listed));
      }),
    );

  add('show', 'Show the state of an evaluation, or its progress', '<id>')
    .option('--json', 'as JSON, with the result document')
    .action((named: string, flags: ServerFlags) =>
      withServer(flags, async (client) => {
        const id = await evaluationId(client, named);
        const { evaluation, last } = await client.get(id);
        if (flags.json === true) {
          const result = last?.event.kind === 'done' ? resultOf(await doneEvent(client, id, last)) : undefined;
          const shown = documentOf('evaluation', { ...evaluation, last }) as object;
          host.print(`${JSON.stringify({ ...shown, result }, null, 2)}\n`);
        } else host.print(`${table([evaluation])}${inWords(last)}\n`);
      }),
    );

  add('follow', 'Show all events, past and new, then the estimates', '<id>')
    .option('--json', 'print the result document instead of the table')
    .option('--quiet', 'no progress; errors and warnings only')
    .action((named: string, flags: ServerFlags & { readonly quiet?: true }) =>
      withServer(flags, async (client) => {
        const id = await evaluationId(client, named);
        try {
          const outcome = await showToEnd(client.follow(id, 0, host.signal), host.progress(flags.quiet ?? false));
          printOutcome(outcome, { json: flags.json ?? false, host });
        } catch (error) {
          if (!host.signal.aborted) throw error;
          leave(id, formatHostPort(flags.server), host);
        }
      }),
    );

  add('cancel', 'End an evaluation; everything measured so far is kept', '<id>').action(
    (named: string, flags: ServerFlags) =>
      withServer(flags, async (client) => {
        const { state } = await client.cancel(await evaluationId(client, named));
        host.print(`${state}\n`);
      }),
  );
}
