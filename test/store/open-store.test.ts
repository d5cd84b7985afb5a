import assert from 'node:assert/strict';
import { join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ErrorCode } from '../../src/base/errors.js';
import { openStore } from '../../src/store/open-store.js';
import type { StoreOptions } from '../../src/store/result-store.js';
import { SETUP_KEY, sampleMeasurement, signatureOf, SYSTEM } from './sample-measurement.js';
import { temporaryFolder } from './temporary-folder.js';
import { assertRefused } from '../rpc/support/refusal.js';
import { startTlsServer } from '../rpc/support/tls-server.js';

/** Puts through one URI, finds through another. */
async function assertSameStore(putUri: string | undefined, findUri: string | undefined): Promise<void> {
  const one = await openStore(putUri);
  await one.putMeasurement(sampleMeasurement(1));
  await one.close();
  const other = await openStore(findUri);
  assert.equal((await other.findMeasurements([signatureOf(1)], SYSTEM.fingerprint, SETUP_KEY)).size, 1);
  await other.close();
}

async function assertUnopened(
  uri: string,
  code: ErrorCode,
  message: RegExp,
  options: StoreOptions = {},
): Promise<void> {
  await assertRefused(openStore(uri, options), code, message, /^(?!.*(alice|secret))/s);
}

/** Sets or unsets an environment variable until the end of the test. */
function setEnvironment(t: TestContext, name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  t.after(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

describe('openStore', () => {
  it('opens an empty store in memory every time', async () => {
    const one = await openStore('memory:');
    await one.putMeasurement(sampleMeasurement(1));
    assert.deepEqual(await (await openStore('memory:')).listSystems(), []);
  });

  it('takes a path, relative or absolute, and file: before it', async (t) => {
    const folder = join(await temporaryFolder(t), 'with space');
    await assertSameStore(folder, `file:${folder}`);
    await assertSameStore(relative('', folder), pathToFileURL(folder).href);
  });

  it('takes what MLMODELSCOPE_STORE says when nothing is given', async (t) => {
    const folder = await temporaryFolder(t);
    setEnvironment(t, 'MLMODELSCOPE_STORE', `file:${folder}`);
    await assertSameStore(undefined, folder);
  });

  it(
    "takes the user's data folder when nothing says otherwise",
    { skip: process.platform !== 'linux' && 'the folder can be moved on Linux only' },
    async (t) => {
      const home = await temporaryFolder(t);
      setEnvironment(t, 'MLMODELSCOPE_STORE', '');
      setEnvironment(t, 'XDG_DATA_HOME', home);
      await assertSameStore(undefined, join(home, 'mlmodelscope', 'store'));
    },
  );

  it('names the setting for an authority that is not known, without the password', async (t) => {
    const uri = `mongodb://alice:secret@${await startTlsServer(t)}/db?tls=true`;
    await assertUnopened(uri, 'unavailable', /is not trusted .*tlsCAFile=FILE in the URI/, { access: 'read' });
  });

  it('says that no server answers, at once to a reader, and after waiting to others, without the password', async () => {
    const uri = 'mongodb://alice:secret@127.0.0.1:1/db';
    const unanswered = /127\.0\.0\.1:1\/db .*no server answers/;
    await assertUnopened(uri, 'unavailable', unanswered, { access: 'read' });
    const warnings: string[] = [];
    const onWarning = (warning: string): void => void warnings.push(warning);
    await assertUnopened(`${uri}?serverSelectionTimeoutMS=8000`, 'unavailable', /has not answered for/, { onWarning });
    assert.match(warnings[0] ?? '', unanswered);
    assert.match(warnings[1] ?? '', /127\.0\.0\.1:1\/db does not answer; waiting for it/);
    assert.doesNotMatch(warnings.join(), /alice|secret/);
  });

  it('wants a server with a database, without repeating the password', async () => {
    await assertUnopened('mongodb://alice:secret@host', 'usage', /names no database/);
    await assertUnopened('mongodb://alice:secret@host/?authSource=admin', 'usage', /names no database/);
    await assertUnopened('mongodb://alice:secret@host/a.b', 'usage', /no database can have the name/);
    await assertUnopened('mongodb://alice:secret@host:port/db', 'usage', /does not understand its URI/);
    await assertUnopened('mongodb://alice:secret@/db', 'usage', /does not understand its URI/);
  });

  it('names what it accepts when it gets something else, without repeating it', async () => {
    await assertUnopened(
      'postgres://alice:secret@host/db',
      'usage',
      /no backend for postgres:\/\/.*Accepted: .*memory:/,
    );
    await assertUnopened('alice:secret@host', 'usage', /Accepted: /);
    await assertUnopened('memory:secret', 'usage', /Accepted: /);
    await assertUnopened('file://alice/secret', 'usage', /three slashes|Accepted: /);
    await assertUnopened('', 'usage', /it is empty.*Accepted: /);
    await assertUnopened('file:', 'usage', /it is empty.*Accepted: /);
  });

  it('does not take a mistyped server for a folder', async () => {
    await assertUnopened('mongodb//alice:secret@host/db', 'usage', /has no scheme/);
    await assertUnopened('//alice:secret@host/db', 'usage', /has no scheme/);
  });
});
