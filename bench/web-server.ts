// Started by web.ts: a server with pages over a store, in a process of its own, with an evaluation that many follow.
import { openEmbeddedStore } from '../src/store/embedded/open.js';
import { scripted } from '../test/server/scripted-evaluation.js';
import { siteServing } from '../test/server/site-server.js';

const EVENTS = 200;

const store = await openEmbeddedStore(process.argv[2] ?? '', {});
const { url, attach } = await siteServing({ after: () => undefined }, { store });
let release = (): void => {};
const held = new Promise<void>((resolve) => (release = resolve));
await attach(
  scripted(async function* () {
    yield { kind: 'note', level: 'info', message: 'waiting for followers' };
    await held;
    for (let index = 0; index < EVENTS; index++) {
      yield { kind: 'note', level: 'info', message: `note ${index}: ${'a'.repeat(200)}` };
    }
    yield { kind: 'done', result: {}, partial: false };
  }),
);
let most = 0;
setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
process.on('message', (message) => {
  if (message === 'release') release();
  // From now on.
  else if (message === 'settle') {
    globalThis.gc?.();
    most = process.memoryUsage.rss();
    process.send?.({ bytes: most });
  } else process.send?.({ bytes: most });
});
process.send?.({ url });
