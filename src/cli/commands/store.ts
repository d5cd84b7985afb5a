import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { counted } from '../../base/counted.js';
import { cancellationOf } from '../../base/cancellation.js';
import { codeOf, messageOf, PlatformError } from '../../base/errors.js';
import { requireWritable, writeResult } from '../../base/output-file.js';
import { openRegularFile } from '../../base/regular-file.js';
import type { CommandHost } from '../../evaluation/plugin.js';
import { fromJsonLines, toJsonLines } from '../../store/json-lines.js';
import { syncStore } from '../../store/open-store.js';
import { putRecords, readRecords, type Transferred } from '../../store/transfer.js';
import { registerStoreDelete, registerStorePrune } from './store-delete.js';
import { registerStoreInfo } from './store-info.js';
import { registerStoreList } from './store-list.js';
import { STORE, type StoreOption } from './store-option.js';

export function registerStoreCommand(program: Command, host: CommandHost): void {
  const store = program
    .command('store')
    .description('Look into a store, delete from it, and move results between stores')
    .addHelpText(
      'after',
      `
Examples:
  mlmodelscope store info
  mlmodelscope store list --disturbed
  mlmodelscope store prune --older-than 30d --dry-run
  mlmodelscope store export results.jsonl
  mlmodelscope store import results.jsonl --store mongodb://HOST/DATABASE
  mlmodelscope store sync --store mongodb://HOST/DATABASE`,
    );
  registerStoreInfo(store, host);
  registerStoreList(store, host);
  registerStorePrune(store, host);
  registerStoreDelete(store, host);
  store
    .command('export')
    .description('Write everything in a store as JSON lines')
    .argument('<file>', 'file to write; - is standard output')
    .option(...STORE)
    .addHelpText('after', '\nExample:\n  mlmodelscope store export results.jsonl')
    .action(async (file: string, { store: uri }: StoreOption) => {
      if (file !== '-') await requireWritable(file);
      const lines = toJsonLines(readRecords(await host.openStore(uri, { access: 'read' })));
      if (file === '-') await writeToStdout(lines);
      else await writeResult(file, lines);
    });
  store
    .command('import')
    .description('Read JSON lines into a store; existing documents are replaced')
    .argument('<file>', "file that 'store export' wrote; - is standard input")
    .option(...STORE)
    .addHelpText('after', '\nExample:\n  mlmodelscope store import results.jsonl')
    .action(async (file: string, { store: uri }: StoreOption) => {
      const name = file === '-' ? '(standard input)' : file;
      const bytes = addAbortSignal(host.signal, file === '-' ? process.stdin : await openStream(file));
      // An error may come before the stream has a reader. A reader gets the error as well.
      bytes.on('error', () => {});
      try {
        const target = await host.openStore(uri);
        host.print(`imported ${describeTransfer(await putRecords(fromJsonLines(bytes, name), target))}\n`);
      } catch (thrown) {
        throw host.signal.aborted ? cancellationOf(host.signal) : readError(name, thrown);
      } finally {
        bytes.destroy();
      }
    });
  store
    .command('sync')
    .description('Send the results that could not be stored while the server was unavailable')
    .option(...STORE)
    .addHelpText('after', '\nExample:\n  mlmodelscope store sync --store mongodb://HOST/DATABASE')
    .action(async ({ store: uri }: StoreOption) => {
      const onWarning = (message: string): void => host.warn(`warning: ${message}`);
      host.print(`synced ${describeTransfer(await syncStore(uri, { onWarning, signal: host.signal }))}\n`);
    });
}

function describeTransfer({ measurements, documents }: Transferred): string {
  return `${counted(measurements, 'measurement')} and ${counted(documents, 'other document')}`;
}

async function openStream(file: string): Promise<Readable> {
  const opened = await openRegularFile(file);
  if (opened.ok) return opened.file.createReadStream();
  const advice = 'name another file, or - for standard input';
  throw new PlatformError('usage', `${file} cannot be read: expected a file, found ${opened.found}; ${advice}`);
}

async function writeToStdout(lines: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (thrown) {
    // The reader has closed the pipe.
    if (codeOf(thrown) !== 'EPIPE') throw thrown;
  }
}

/** Rephrases an error of the operating system, and returns any other error unchanged. */
function readError(file: string, thrown: unknown): unknown {
  if (!(thrown instanceof Error && 'syscall' in thrown)) return thrown;
  return new PlatformError('usage', `${file} cannot be read: ${messageOf(thrown)}; name another file`, {
    cause: thrown,
  });
}
