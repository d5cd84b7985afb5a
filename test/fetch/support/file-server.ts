import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Lifetime } from '../../support/lifetime.js';
import type { Authority } from '../../rpc/support/certificates.js';

/** A file server over TLS, as for published models. */
export interface FileServer {
  readonly origin: string;
  /** HOST:PORT as paths of fetched files have it. */
  readonly place: string;
  /** Content by path; may be changed. */
  readonly files: Map<string, Uint8Array>;
  /** Paths whose connection breaks once, with the number of bytes after which it breaks. */
  readonly breaks: Map<string, number>;
  /** Requests so far: path and headers. */
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
}

/** Starts a server on loopback that supports range requests; it ends with the test. */
export async function fileServer(t: Lifetime, { identity }: Authority): Promise<FileServer> {
  const files = new Map<string, Uint8Array>();
  const breaks = new Map<string, number>();
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const answer: RequestListener = ({ url: path = '', headers }, response) => {
    requests.push({ path, headers });
    const content = files.get(path);
    if (content === undefined) {
      response.writeHead(404).end();
      return;
    }
    const etag = `"${content.length}-${content[0]}"`;
    const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    const start = from !== undefined && headers['if-range'] === etag ? Number(from) : 0;
    const rest = content.subarray(start);
    const range = start === 0 ? {} : { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
    response.writeHead(start === 0 ? 200 : 206, { etag, 'content-length': rest.length, ...range });
    const breaksAfter = breaks.get(path);
    breaks.delete(path);
    if (breaksAfter === undefined) response.end(rest);
    else response.write(rest.subarray(0, breaksAfter), () => setTimeout(() => response.destroy(), 50));
  };
  const server = createServer({ cert: identity.certificatePem, key: identity.keyPem }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `https://localhost:${port}`, place: `localhost_${port}`, files, breaks, requests };
}
