import { BSON } from 'mongodb';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { EVALUATION_DOCUMENTS, PERFORMANCE_DOCUMENTS } from '../../../src/platform-documents/documents.js';
import type { CollectionDefinition } from '../../../src/store/collection.js';
import { encodeDocument } from '../../../src/store/mongodb/document-codec.js';
import type { ResultStore } from '../../../src/store/result-store.js';
import { temporaryFolder } from '../../store/temporary-folder.js';

/** Path of the platform's analyses in Go, which test/platform-documents/original/build.sh builds. */
const ANALYSES = process.env['ORIGINAL_ANALYSES'];

/** Options for describe and test: skips if the analyses are not built, for example without Go. */
export const needsOriginalAnalyses = {
  skip:
    ANALYSES === undefined &&
    "needs the platform's analyses in Go: ORIGINAL_ANALYSES=$(test/platform-documents/original/build.sh)",
};

export interface OriginalResult {
  readonly trace_levels: readonly number[] | null;
  readonly models: readonly {
    readonly batch_size: number;
    /** Microseconds. */
    readonly durations: readonly number[];
    readonly latency_ms: number;
    readonly base: readonly string[];
  }[];
  readonly layers: readonly {
    readonly index: number;
    readonly name: string;
    readonly type: string;
    readonly shape: string;
    /** Microseconds. */
    readonly duration: number;
  }[];
}

/**
 * The results of the platform's analyses on a store's documents, in the form that they have in MongoDB.
 *
 * @param source where the analyses get spans: from the documents, or from a tracing server
 * @param filter as in MongoDB
 */
export async function originalAnalyses(
  t: TestContext,
  store: ResultStore,
  source: 'embedded' | 'url',
  filter: Readonly<Record<string, string | number>>,
): Promise<OriginalResult> {
  const folder = await temporaryFolder(t);
  await writeDocuments(store, EVALUATION_DOCUMENTS, folder);
  await writeDocuments(store, PERFORMANCE_DOCUMENTS, folder);
  const { stdout } = await promisify(execFile)(ANALYSES ?? '', [folder, source, JSON.stringify(filter)]);
  return JSON.parse(stdout) as OriginalResult;
}

async function writeDocuments<Document extends object>(
  store: ResultStore,
  definition: CollectionDefinition<Document>,
  folder: string,
): Promise<void> {
  const documents: Uint8Array[] = [];
  for await (const document of store.collection(definition).find({})) {
    documents.push(BSON.serialize(encodeDocument(document, definition.types)));
  }
  await writeFile(join(folder, `${definition.name}.bson`), Buffer.concat(documents));
}
