import type { MeasureRequest } from '../benchmark-agent.js';

export interface Numbered {
  readonly index: number;
  readonly request: MeasureRequest;
}

/** Most requests of one call, and most bytes of their models: far below the limits of a message. */
const MAX_REQUESTS = 2000;
const MAX_BYTES = 16 * 2 ** 20;

export function sharedSetupKey({ runOptions, protocol, occasion, limits }: MeasureRequest): string {
  return JSON.stringify([runOptions, protocol, occasion, limits]);
}

interface Group {
  readonly requests: Numbered[];
  readonly setup: string | undefined;
  bytes: number;
}

/** Adjacent requests with a context and the same setup are one group, as far as one call has room. */
export function requestsTogether(requests: readonly MeasureRequest[]): readonly (readonly Numbered[])[] {
  const groups: Group[] = [];
  for (const [index, request] of requests.entries()) {
    const bytes = request.benchmark.model.length;
    const setup = request.context === undefined ? undefined : sharedSetupKey(request);
    const last = groups.at(-1);
    const hasRoom = last !== undefined && last.requests.length < MAX_REQUESTS && last.bytes + bytes <= MAX_BYTES;
    if (hasRoom && setup !== undefined && setup === last.setup) {
      last.requests.push({ index, request });
      last.bytes += bytes;
    } else groups.push({ requests: [{ index, request }], setup, bytes });
  }
  return groups.map((group) => group.requests);
}
