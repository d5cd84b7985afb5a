// A thread that shows results as parts of pages, one at a time; see result-pages.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.js';
import { resultsMarkup } from '../../web/page.js';
import { loadPlugins } from '../load-plugins.js';
import { shownDocument } from '../show-outcome.js';

export interface ThreadData {
  readonly paths: readonly string[];
  readonly folder: string;
}

export interface ToShow {
  readonly plugin: string;
  /** JSON in UTF-8. */
  readonly result: Uint8Array;
}

export type Shown = { readonly markup: string | undefined } | { readonly problem: string };

const { paths, folder } = workerData as ThreadData;
// The command has warned of plugins that do not load.
const loaded = loadPlugins({ paths, folder, onWarning: () => {} });

const sayLoaded = (): void => parentPort?.postMessage('loaded');
void loaded.then(sayLoaded, sayLoaded);

parentPort?.on('message', ({ plugin, result }: ToShow) => {
  void loaded
    .then((plugins): Shown => {
      const document = JSON.parse(Buffer.from(result).toString()) as unknown;
      const shown = shownDocument(document, { plugin, plugins, wide: true });
      return { markup: shown && resultsMarkup([shown], { level: 2, root: '/' }).body.text };
    })
    .catch((error: unknown): Shown => ({ problem: messageOf(error) }))
    .then((answer) => parentPort?.postMessage(answer));
});
