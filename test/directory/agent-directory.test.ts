import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDirectory, type Unmet } from '../../src/directory/agent-directory.js';
import { refusal } from '../rpc/support/refusal.js';
import { until } from '../support/until.js';
import { offer } from './support/offer.js';

const ANY: Unmet = () => [];

function directoryWithClock() {
  let time = 0;
  const directory = createDirectory({ leaseMs: 1000, now: () => time });
  return { directory, pass: (ms: number) => (time += ms) };
}

const addresses = (directory: ReturnType<typeof createDirectory>) => directory.list().map(({ address }) => address);

describe('the address of an agent', () => {
  const at = offer({ address: '10.0.0.1:7070' });
  const holder = (name: string, accessToken: string) => ({ name, accessToken });

  test('is registered again by its holder, or with its own token, and by no other holder', () => {
    const directory = createDirectory();
    directory.register(at, holder('rack-1', 'made by the agent'));
    assert.throws(
      () => directory.register(at, holder('rack-2', 'made by another')),
      refusal('forbidden', /10\.0\.0\.1/),
    );
    assert.throws(() => directory.register(at, holder('rack-2', '')), refusal('forbidden'));
    directory.register(at, holder('rack-1', 'made after a restart'));
    directory.register(at, holder('rack-2', 'made after a restart'));
    assert.deepEqual(
      directory.list().map(({ accessToken }) => accessToken),
      ['made after a restart'],
    );
  });

  test('is free for every holder when the lease has run out', () => {
    const { directory, pass } = directoryWithClock();
    directory.register(at, holder('rack-1', 'one'));
    pass(1000);
    directory.register(at, holder('rack-2', 'two'));
    assert.deepEqual(addresses(directory), ['10.0.0.1:7070']);
  });
});

describe('a lease', () => {
  test('expires when it is not renewed in time', () => {
    const { directory, pass } = directoryWithClock();
    directory.register(offer({ address: '10.0.0.1:7070' }));
    pass(999);
    assert.deepEqual(addresses(directory), ['10.0.0.1:7070']);
    pass(1);
    assert.deepEqual(addresses(directory), []);
  });

  test('does not expire because the process of the directory was blocked, and expires later', async () => {
    const directory = createDirectory({ leaseMs: 2500 });
    directory.register(offer({ address: '10.0.0.1:7070' }));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    assert.deepEqual(addresses(directory), ['10.0.0.1:7070']);
    await until(() => addresses(directory).length === 0);
  });

  test('lasts as long as it is renewed', () => {
    const { directory, pass } = directoryWithClock();
    const { id } = directory.register(offer());
    for (let i = 0; i < 10; i++) {
      pass(900);
      directory.renew(id);
    }
    assert.equal(directory.list().length, 1);
  });

  test('that has expired cannot be renewed', () => {
    const { directory, pass } = directoryWithClock();
    const { id } = directory.register(offer());
    pass(1000);
    assert.throws(() => directory.renew(id), refusal('not_found', /register again/));
  });

  test('ends at once when the agent unregisters', () => {
    const { directory } = directoryWithClock();
    const { id } = directory.register(offer());
    directory.unregister(id);
    directory.unregister(id);
    assert.deepEqual(directory.list(), []);
  });

  test('of an address replaces an earlier lease of this address', () => {
    const { directory } = directoryWithClock();
    const before = directory.register(offer({ frameworkVersion: '1.20.0' }));
    directory.register(offer({ frameworkVersion: '1.30.0' }));
    assert.deepEqual(
      directory.list().map(({ frameworkVersion }) => frameworkVersion),
      ['1.30.0'],
    );
    assert.throws(() => directory.renew(before.id), refusal('not_found'));
  });

  test('is given to a limited number of agents', () => {
    const { directory } = directoryWithClock();
    for (let i = 0; i < 1000; i++) directory.register(offer({ address: `10.0.0.1:${i + 1}` }));
    assert.throws(() => directory.register(offer({ address: '10.0.0.2:1' })), refusal('exhausted'));
    directory.register(offer({ address: '10.0.0.1:1' }));
  });
});

describe('a choice', () => {
  test('falls on an agent that fits', () => {
    const { directory } = directoryWithClock();
    directory.register(offer({ address: '10.0.0.1:1', cores: 2 }));
    directory.register(offer({ address: '10.0.0.2:1', cores: 8 }));
    const unmet: Unmet = ({ cores }) => (cores >= 4 ? [] : [{ problem: 'too few' }]);
    assert.equal(directory.choose(unmet).address, '10.0.0.2:1');
  });

  test('falls on agents that fit in turns', () => {
    const { directory } = directoryWithClock();
    for (const host of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) directory.register(offer({ address: `${host}:1` }));
    const chosen = Array.from({ length: 4 }, () => directory.choose(ANY).address);
    assert.deepEqual(chosen, ['10.0.0.1:1', '10.0.0.2:1', '10.0.0.3:1', '10.0.0.1:1']);
  });

  test('of all has every agent that fits, and begins with those whose turn it is', () => {
    const { directory } = directoryWithClock();
    const hosts = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
    for (const [index, host] of hosts.entries()) directory.register(offer({ address: `${host}:1`, cores: index + 1 }));
    const all = (unmet: Unmet, used: number) => directory.chooseAll(unmet, used).map(({ cores }) => cores);
    directory.choose(ANY);
    assert.deepEqual(all(ANY, 2), [2, 3, 1]);
    assert.deepEqual(all(ANY, 1), [1, 2, 3]);
    assert.deepEqual(all(ANY, Infinity), [2, 3, 1]);
    const atLeastTwo: Unmet = ({ cores }) => (cores < 2 ? [{ problem: 'too few' }] : []);
    assert.deepEqual(all(atLeastTwo, 1), [2, 3]);
    assert.throws(() => all(() => [{ problem: 'wrong' }], 1), refusal('unsupported', /no agent meets/));
  });

  test('of all leaves out an agent that was set aside, until it renews its lease or registers again', () => {
    const { directory } = directoryWithClock();
    const first = directory.register(offer({ address: '10.0.0.1:1' }));
    const second = directory.register(offer({ address: '10.0.0.2:1' }));
    const all = () => directory.chooseAll(ANY, 1).map(({ address }) => address);
    directory.setAside(first.id, 'it does not answer');
    assert.deepEqual(all(), ['10.0.0.2:1']);
    directory.setAside(second.id, 'it answers too late');
    assert.throws(
      all,
      refusal(
        'unavailable',
        /^no agent that meets .* can be reached.*:\n {2}it does not answer\n {2}it answers too late$/,
      ),
    );
    directory.renew(first.id);
    assert.deepEqual(all(), ['10.0.0.1:1']);
    const again = directory.register(offer({ address: '10.0.0.2:1' }));
    directory.setAside(second.id, 'of a lease that has ended');
    assert.deepEqual(all(), ['10.0.0.2:1', '10.0.0.1:1']);
    directory.setAside(again.id, 'gone');
    assert.deepEqual(addresses(directory), ['10.0.0.1:1', '10.0.0.2:1']);
  });

  test('without any agent says how to start one', () => {
    const { directory } = directoryWithClock();
    assert.throws(() => directory.choose(ANY), refusal('unavailable', /no agent is registered.*mlmodelscope agent/));
  });

  test('that no agent fits lists each agent with every constraint that it does not meet', () => {
    const { directory } = directoryWithClock();
    directory.register(offer({ address: '10.0.0.1:1', cores: 2, architecture: 'arm64' }));
    directory.register(offer({ address: '10.0.0.2:1', cores: 8, architecture: 'arm64' }));
    const unmet: Unmet = ({ cores, architecture }) => [
      { problem: `architecture ${architecture}`, remedy: 'ask for less' },
      ...(cores < 4 ? [{ problem: `only ${cores} cores` }] : []),
    ];
    assert.throws(
      () => directory.choose(unmet),
      (error: Error) => {
        const [heading = '', ...lines] = error.message.split('\n');
        assert.deepEqual(lines, [
          '  10.0.0.1:1: architecture arm64',
          '  10.0.0.1:1: only 2 cores',
          '  10.0.0.2:1: architecture arm64',
        ]);
        assert.equal(heading, 'no agent meets the constraints; start an agent that does; or: ask for less:');
        return refusal('unsupported', /no agent meets the constraints/)(error);
      },
    );
  });
});
