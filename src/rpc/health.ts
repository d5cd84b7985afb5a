import type { Server, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

type Watch = ServerWritableStream<{ readonly service: string }, { readonly status: string }>;

export interface Health {
  setStatus(service: string, status: 'SERVING' | 'NOT_SERVING'): void;
}

/** The server itself, the empty name, is serving from now on. */
export function addHealth(server: Pick<Server, 'addService'>): Health {
  const health = new HealthImplementation({ '': 'SERVING' });
  const known = new Set(['']);
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
    setStatus(service, status) {
      known.add(service);
      health.setStatus(service, status);
    },
  };
}
