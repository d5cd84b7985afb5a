import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brickPath, readSuite, writeSuite } from '../../plugins/dlbricks/exchange/suite.js';
import { jsonTarget } from './json-target.js';
import { sampleSuite } from './sample-suite.js';

/** A suite's document as it is written. */
async function documentOf(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-suite-'));
  try {
    const { suite, recipe } = sampleSuite();
    await writeSuite(folder, suite, recipe);
    return JSON.parse(await readFile(join(folder, 'suite', 'suite.json'), 'utf8')) as object;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Suites: their document, beside valid bricks. */
export const suite = jsonTarget({
  name: 'suite',
  async seeds() {
    const document = await documentOf();
    return [document, { ...document, format: 'dlbricks-suite/1' }];
  },
  async prepare(folder) {
    for (const { signature, model } of sampleSuite().suite.bricks) {
      const path = join(folder, brickPath(signature));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, model);
    }
  },
  read: (_path, folder) => readSuite(folder),
});
