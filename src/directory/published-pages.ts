import { Metadata, type ServerUnaryCall } from '@grpc/grpc-js';
import { firstPage } from './page.js';

// The platform's published contract has no pages, and may not get any. A long answer is cut to a size that every client takes.
// The place of the rest is in the call's metadata, for the clients that look there.

const PAGE_TOKEN = 'page-token';
const NEXT_PAGE_TOKEN = 'next-page-token';

/** Something that is listed, at its place among the others. */
export interface Listed<Message> {
  readonly key: string;
  readonly message: Message;
}

interface PageForOptions<Message> {
  /** Gives a message as it travels. */
  readonly encode: (message: Message) => { finish(): Uint8Array };
  /** Lets others have their turn. */
  readonly turn: () => Promise<void>;
}

/** Those after a key, each key once: of several with one key the last. */
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
 * The messages after the one that the call's `page-token` names, all without it. Says by `next-page-token` that there are
 * more.
 *
 * @param listed in the order of their keys
 */
export async function pageFor<Message>(
  call: Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'sendMetadata'>,
  listed: Iterable<Listed<Message>>,
  { encode, turn }: PageForOptions<Message>,
): Promise<Message[]> {
  const [token = ''] = call.metadata.get(PAGE_TOKEN);
  const after = Buffer.from(token.toString(), 'base64url').toString();
  const bytesOf = ({ message }: Listed<Message>): number => encode(message).finish().length;
  const { items, isLast } = await firstPage(listedAfter(listed, after), { bytesOf, turn });
  const last = items.at(-1);
  if (!isLast && last !== undefined) {
    const metadata = new Metadata();
    metadata.set(NEXT_PAGE_TOKEN, Buffer.from(last.key).toString('base64url'));
    call.sendMetadata(metadata);
  }
  return items.map(({ message }) => message);
}
