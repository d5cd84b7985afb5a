import type { Server, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

type Watch = ServerWritableStream<{ readonly service: string }, { readonly status: string }>;

export interface Health {
  /** Tells all watchers that nothing is served any more. */
  stop(): void;
}

/** The services, and the server itself, the empty name, are serving from now on. */
export function addHealth(server: Pick<Server, 'addService'>, services: readonly string[]): Health {
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
  return {
    stop: () => {
      for (const name of known) health.setStatus(name, 'NOT_SERVING');
    },
  };
}
