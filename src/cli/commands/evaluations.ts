import type { Command } from 'commander';
import { PlatformError } from '../../base/errors.js';
import { shortIds } from '../../base/short-ids.js';
import { type Column, left } from '../../base/text-table.js';
import { addQuietOption, addTableOptions, addWideOption, type OutputOptions } from '../../command/options.js';
import { prepareOutputs, printsExport } from '../../command/outputs.js';
import { tableText } from '../../command/table-text.js';
import { connectEvaluations, type EvaluationClient } from '../../evaluation/client/evaluation-client.js';
import type { LoggedEvent } from '../../evaluation/event.js';
import type { Plugin } from '../../evaluation/plugin.js';
import { stepOf } from '../../evaluation/show-event.js';
import type { EvaluationSummary } from '../../evaluation/records.js';
import { formatHostPort, type HostPort } from '../../rpc/loopback.js';
import { addressOption, SERVER_VARIABLE } from '../address.js';
import { DEFAULT_SERVER, leave, parseResult, showToEnd } from '../evaluations.js';
import { evaluationId } from '../evaluation-id.js';
import type { OwnedHost } from '../host.js';
import { SILENT } from '../progress.js';
import { toDocument, documentText } from '../document-text.js';
import { showOutcome } from '../show-outcome.js';

interface ServerFlags {
  readonly server: HostPort;
  readonly json?: true;
}

const LISTED = 100;

function describeLast(last: LoggedEvent | undefined): string {
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
      return `${stepOf(last.event)} ${last.event.done} of ${last.event.total}: ${last.event.label}`;
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

/** ISO 8601 without seconds. */
function inMinutes(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

function columnsFor(evaluations: readonly EvaluationSummary[]): readonly Column<EvaluationSummary>[] {
  const short = shortIds(evaluations.map(({ id }) => id));
  return [
    left('id', ({ id }) => short(id)),
    left('name', ({ name }) => name),
    left('plugin', ({ plugin }) => plugin),
    left('state', ({ state }) => state),
    left('submitted (UTC)', ({ submittedAt }) => inMinutes(submittedAt)),
    left('changed (UTC)', ({ changedAt }) => inMinutes(changedAt)),
  ];
}

function table(evaluations: readonly EvaluationSummary[], host: OwnedHost): string {
  return tableText(columnsFor(evaluations), evaluations, ['changed (UTC)', 'plugin', 'submitted (UTC)'], host);
}

interface ResultFlags extends ServerFlags, OutputOptions {
  readonly wide?: true;
}

export function registerEvaluationsCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
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

  add('list', `List the latest ${LISTED} evaluations, newest first`)
    .option('--json', 'as JSON')
    .action((flags: ServerFlags) =>
      withServer(flags, async (client) => {
        const listed = await client.list(LISTED);
        if (flags.json === true) host.print(documentText('evaluations', [...listed]));
        else host.print(table(listed, host));
      }),
    );

  const withResultOptions = (command: Command): Command => addQuietOption(addWideOption(addTableOptions(command)));

  withResultOptions(add('show', 'Show the state of an evaluation, its progress, or its result', '<id>'))
    .option('--json', 'as JSON, with the result document')
    .action((named: string, flags: ResultFlags) =>
      withServer(flags, async (client) => {
        const outputs = await prepareOutputs(flags);
        const id = await evaluationId(client, named);
        const { evaluation, last } = await client.get(id);
        // The events of a finished evaluation no longer matter.
        const outcome = last?.event.kind === 'done' ? await showToEnd(client.follow(id, 0), SILENT) : undefined;
        const { json = false, wide = false } = flags;
        const state = `${table([evaluation], host)}${describeLast(last)}`;
        if (json) {
          const shown = toDocument('evaluation', { ...evaluation, last });
          host.print(`${JSON.stringify({ ...shown, result: outcome && parseResult(outcome.done) }, null, 2)}\n`);
        } else if (printsExport(outputs)) host.warn(state);
        else if (!outputs.quiet) host.print(`${state}\n`);
        if (outcome !== undefined) {
          const shownTo = { ...outputs, quiet: json || outputs.quiet };
          await showOutcome(outcome, { plugin: evaluation.plugin, plugins, outputs: shownTo, json: false, wide }, host);
        } else if (outputs.exports.length > 0) {
          throw new PlatformError('unavailable', `evaluation ${id} has no result to export: ${describeLast(last)}`);
        }
      }),
    );

  withResultOptions(add('follow', 'Show all events, past and new, then the result', '<id>'))
    .option('--json', 'print the result document instead of the table')
    .action((named: string, flags: ResultFlags) =>
      withServer(flags, async (client) => {
        const outputs = await prepareOutputs(flags);
        const id = await evaluationId(client, named);
        const { plugin } = (await client.get(id)).evaluation;
        try {
          const outcome = await showToEnd(client.follow(id, 0, host.signal), host.progress(outputs.quiet));
          const { json = false, wide = false } = flags;
          await showOutcome(outcome, { plugin, plugins, outputs, json, wide }, host);
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
