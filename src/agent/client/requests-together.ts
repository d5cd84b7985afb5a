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

class Group {
  readonly requests: Numbered[] = [];
  readonly #setup: string;
  #bytes = 0;

  constructor(first: Numbered) {
    this.#setup = sharedSetupKey(first.request);
    this.#add(first);
  }

  #add(numbered: Numbered): void {
    this.requests.push(numbered);
    this.#bytes += numbered.request.benchmark.model.length;
  }

  /** @returns whether it fits */
  take(numbered: Numbered): boolean {
    const { request } = numbered;
    const [first] = this.requests;
    if (first?.request.context === undefined || request.context === undefined) return false;
    const isFull = this.requests.length >= MAX_REQUESTS || this.#bytes + request.benchmark.model.length > MAX_BYTES;
    if (isFull || sharedSetupKey(request) !== this.#setup) return false;
    this.#add(numbered);
    return true;
  }
}

/** Adjacent requests with a context and the same setup are one group, as far as one call has room. */
export function requestsTogether(requests: readonly MeasureRequest[]): readonly (readonly Numbered[])[] {
  const groups: Group[] = [];
  for (const [index, request] of requests.entries()) {
    const numbered = { index, request };
    if (groups.at(-1)?.take(numbered) !== true) groups.push(new Group(numbered));
  }
  return groups.map((group) => group.requests);
}
