import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { Server, ServerDuplexStream, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { readFile } from 'node:fs/promises';
import { ownValue } from '../base/own-value.js';
import { toStatus } from './status.js';

/** Written by the build; three folders above dist/src/rpc. It is a FileDescriptorSet: `file` is field 1. */
const CONTRACT = new URL('../../../proto/contract.binpb', import.meta.url);

/** Each file of `proto/`, and of google/protobuf that these import, with its own imports. */
async function contract(): Promise<PackageDefinition> {
  const fileDescriptorProtos: Buffer[] = [];
  const reader = new BinaryReader(await readFile(CONTRACT));
  while (reader.pos < reader.len) {
    reader.tag();
    fileDescriptorProtos.push(Buffer.from(reader.bytes()));
  }
  return { contract: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos } } as never;
}

type Call = ServerDuplexStream<unknown, unknown>;

function buildVersions(
  definitions: PackageDefinition,
  services: readonly string[],
): readonly { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation }[] {
  const versions: { definition: ServiceDefinition; implementation: UntypedServiceImplementation }[] = [];
  new ReflectionService(definitions, { services: [...services] }).addToServer({
    addService: (definition, implementation) => versions.push({ definition, implementation }),
  });
  return versions;
}

/** v1 and v1alpha. The contract is read at the first call. */
export function addReflection(server: Pick<Server, 'addService'>, services: readonly string[]): void {
  let read: Promise<ReturnType<typeof buildVersions>> | undefined;
  for (const [index, { definition, implementation }] of buildVersions({}, []).entries()) {
    const deferred = Object.keys(implementation).map((method) => {
      const handle = (call: Call): void => {
        read ??= contract().then((files) => buildVersions(files, services));
        const answer = (versions: ReturnType<typeof buildVersions>): void => {
          const handler = ownValue(versions[index]?.implementation ?? {}, method) as ((call: Call) => void) | undefined;
          handler?.(call);
        };
        read.then(answer).catch((error: unknown) => {
          read = undefined;
          call.emit('error', toStatus(error));
        });
      };
      return [method, handle] as const;
    });
    server.addService(definition, Object.fromEntries(deferred));
  }
}
