import type { MethodDefinition } from '@grpc/grpc-js';
import { PlatformError } from '../base/errors.js';

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

export function withLargeAnswers<Request, Response>(
  method: MethodDefinition<Request, Response>,
): MethodDefinition<Request, Response | LargeAnswer> {
  return {
    ...method,
    responseSerialize(answer) {
      if (answer instanceof LargeAnswer) throw new PlatformError('internal', 'a large answer is sent in pieces');
      return method.responseSerialize(answer);
    },
  };
}
