import { Metadata, type ServerUnaryCall } from '@grpc/grpc-js';

/** Below the 4 MiB that gRPC clients accept by default. */
const PAGE_BYTES = 2 * 2 ** 20;

/** As many items as fit into `most` and 2 MiB, at least one. */
export function firstPage<T>(
  list: Iterable<T>,
  bytesOf: (item: T) => number,
  most = Infinity,
): { readonly items: readonly T[]; readonly isLast: boolean } {
  const items: T[] = [];
  let bytes = 0;
  for (const item of list) {
    if (items.length >= most) return { items, isLast: false };
    bytes += bytesOf(item);
    if (items.length > 0 && bytes > PAGE_BYTES) return { items, isLast: false };
    items.push(item);
  }
  return { items, isLast: true };
}

// The published contract has no pages. So a long answer is cut to a size that every client accepts, and the call's
// metadata has a token for the rest.

const PAGE_TOKEN = 'page-token';
const NEXT_PAGE_TOKEN = 'next-page-token';

export interface Listed<Message> {
  readonly key: string;
  readonly message: Message;
}

/** Of several messages with the same key, only the last one. */
function* listedAfter<Message>(listed: Iterable<Listed<Message>>, after: string): Generator<Listed<Message>> {
  let waiting: Listed<Message> | undefined;
  for (const one of listed) {
    if (one.key <= after) continue;
    if (waiting !== undefined && waiting.key !== one.key) yield waiting;
    waiting = one;
  }
  if (waiting !== undefined) yield waiting;
}

/**
 * From the one that the call's `page-token` names. Sets `next-page-token` if there are more.
 *
 * @param listed in the order of their keys
 */
export function pageFor<Message>(
  call: Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'sendMetadata'>,
  listed: Iterable<Listed<Message>>,
  encode: (message: Message) => { finish(): Uint8Array },
): Message[] {
  const [token = ''] = call.metadata.get(PAGE_TOKEN);
  const after = Buffer.from(token.toString(), 'base64url').toString();
  const bytesOf = ({ message }: Listed<Message>): number => encode(message).finish().length;
  const { items, isLast } = firstPage(listedAfter(listed, after), bytesOf);
  const last = items.at(-1);
  if (!isLast && last !== undefined) {
    const metadata = new Metadata();
    metadata.set(NEXT_PAGE_TOKEN, Buffer.from(last.key).toString('base64url'));
    call.sendMetadata(metadata);
  }
  return items.map(({ message }) => message);
}
