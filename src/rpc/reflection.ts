import type { Server } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The package's own contract, three folders above dist/src/rpc. */
const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

/** Adds server reflection, v1 and v1alpha, for the services of `proto/` that are named. */
export function addReflection(server: Server, services: readonly string[]): void {
  const files = readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.proto'),
  );
  const contract = loadSync(files, { includeDirs: [PROTO_FOLDER], keepCase: true });
  new ReflectionService(contract, { services: [...services] }).addToServer(server);
}
