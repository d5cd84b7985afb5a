import type { MethodDefinition } from '@grpc/grpc-js';

export interface EncodedAnswer {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly close: () => void;
}

/**
 * Opened when the connection's earlier large answers are sent, and sent in pieces. So it takes no memory of its own,
 * however many clients ask for it and never read it.
 */
export class LargeAnswer {
  constructor(readonly open: (signal: AbortSignal) => Promise<EncodedAnswer>) {}
}

/** For the types: a large answer is never serialized as a whole. */
export function withLargeAnswers<Request, Response>(method: MethodDefinition<Request, Response>) {
  return method as MethodDefinition<Request, Response | LargeAnswer>;
}
