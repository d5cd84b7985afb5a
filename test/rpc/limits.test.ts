import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAX_MESSAGE_BYTES, MAX_REQUEST_BYTES, SERVER_LIMITS } from '../../src/rpc/limits.js';

const DOCS = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');

const MIB = 2 ** 20;

// Operators size their machines and firewalls by this table.
for (const [what, limit] of [
  ['message, either way', `${MAX_MESSAGE_BYTES / MIB} MiB`],
  ['request of a method that carries no models or pictures', `${MAX_REQUEST_BYTES / MIB} MiB`],
  ['connections', `${SERVER_LIMITS.connections}`],
  ['calls at a time on one connection', `${SERVER_LIMITS.callsPerConnection}`],
  ['from connecting to the first call', `${SERVER_LIMITS.firstCallMs / 1000} s`],
  ["from a call's start until its request is there", `${SERVER_LIMITS.requestMs / 1000} s`],
  ['connection without calls', `${SERVER_LIMITS.idleMs / 60_000} minutes`],
  ['requests that are on their way, of all clients', `${SERVER_LIMITS.receivingBytes / MIB} MiB`],
  ['requests that are being answered, of all clients', `${SERVER_LIMITS.heldBytes / MIB} MiB`],
] as const) {
  test(`the limit on ${what} is the documented one`, () => {
    const row = DOCS.split('\n').find((line) => line.startsWith(`| ${what} |`));
    assert.equal(row?.split('|')[2]?.trim(), limit);
  });
}
