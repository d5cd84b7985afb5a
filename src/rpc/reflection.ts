import type { Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ownValue } from '../base/own-value.js';

/** The package's own contract, three folders above dist/src/rpc. */
const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

function contract(): PackageDefinition {
  const names = readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.proto'));
  return loadSync(files, { includeDirs: [PROTO_FOLDER], keepCase: true });
}

/** The two versions of the reflection service for the named services of a contract. */
function versionsOf(
  definitions: PackageDefinition,
  services: readonly string[],
): readonly { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation }[] {
  const versions: { definition: ServiceDefinition; implementation: UntypedServiceImplementation }[] = [];
  new ReflectionService(definitions, { services: [...services] }).addToServer({
    addService: (definition, implementation) => versions.push({ definition, implementation }),
  });
  return versions;
}

/**
 * Adds server reflection, v1 and v1alpha, for the named services of `proto/`. The first call reads the contract, which
 * takes as long as starting the rest of a server.
 */
export function addReflection(server: Server, services: readonly string[]): void {
  let read: ReturnType<typeof versionsOf> | undefined;
  for (const [index, { definition, implementation }] of versionsOf({}, []).entries()) {
    const deferred = Object.keys(implementation).map((method) => {
      const handle = (...call: unknown[]): unknown => {
        read ??= versionsOf(contract(), services);
        const handler = ownValue(read[index]?.implementation ?? {}, method) as
          ((...call: unknown[]) => unknown) | undefined;
        return handler?.(...call);
      };
      return [method, handle] as const;
    });
    server.addService(definition, Object.fromEntries(deferred));
  }
}
