// Reading the contract takes some tenths of a second; see reflection.ts.
import { loadSync } from '@grpc/proto-loader';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';

/** Three folders above dist/src/rpc. */
const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

const names = readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' });
const files = names.filter((name) => name.endsWith('.proto'));
const contract = loadSync(files, { includeDirs: [PROTO_FOLDER], keepCase: true });
// A message or an enumeration has the descriptors of all files.
const descriptors = Object.values(contract).flatMap((definition) => {
  return 'format' in definition ? (definition.fileDescriptorProtos as Buffer[]) : [];
});
const byContent = new Map(descriptors.map((bytes) => [bytes.toString('latin1'), new Uint8Array(bytes)]));
parentPort?.postMessage([...byContent.values()]);
