import type { Server, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

type Watch = ServerWritableStream<{ readonly service: string }, { readonly status: string }>;

/**
 * The services, and the server itself, the empty name, are serving from now on.
 *
 * @returns a function that tells all watchers that nothing is served any more
 */
export function addHealth(server: Pick<Server, 'addService'>, services: readonly string[]): () => void {
  const known = new Set(['', ...services]);
  const health = new HealthImplementation(Object.fromEntries([...known].map((name) => [name, 'SERVING'])));
  const addTo: Pick<Server, 'addService'> = {
    addService(definition, implementation: UntypedServiceImplementation) {
      const watch = implementation['watch'] as (call: Watch) => void;
      server.addService(definition, {
        ...implementation,
        // The library remembers every watched name forever.
        watch(call: Watch) {
          if (known.has(call.request.service)) watch(call);
          else call.write({ status: 'SERVICE_UNKNOWN' });
        },
      });
    },
  };
  health.addToServer(addTo);
  return () => {
    for (const name of known) health.setStatus(name, 'NOT_SERVING');
  };
}
