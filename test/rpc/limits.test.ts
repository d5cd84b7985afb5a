import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAX_MESSAGE_BYTES, MAX_NAME_REQUEST_BYTES, MAX_REQUEST_BYTES, SERVER_LIMITS } from '../../src/rpc/limits.js';

const DOCS = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');

const MIB = 2 ** 20;

// Operators size their machines and firewalls by this table.
for (const [what, limit] of [
  ['message, either way', `${MAX_MESSAGE_BYTES / MIB} MiB`],
  ['request of a method that carries no models or pictures', `${MAX_REQUEST_BYTES / MIB} MiB`],
  ['connections', `${SERVER_LIMITS.connections}`],
  ['request of a health check or of reflection', `${MAX_NAME_REQUEST_BYTES / 1024} KiB`],
  ['calls at a time on one connection', `${SERVER_LIMITS.callsPerConnection}`],
  ['calls at a time on all connections', `${SERVER_LIMITS.calls}`],
  ['from connecting to the first call', `${SERVER_LIMITS.firstCallMs / 1000} s`],
  ["from a call's start until its request is there and its client has ended it", `${SERVER_LIMITS.requestMs / 1000} s`],
  ['connection without calls', `${SERVER_LIMITS.idleMs / 60_000} minutes`],
  ['requests that are on their way, of all clients', `${SERVER_LIMITS.receivingBytes / MIB} MiB`],
  [
    'requests that are being answered, of all clients, each value counting 128 bytes',
    `${SERVER_LIMITS.heldBytes / MIB} MiB`,
  ],
  ["from an answer's start until its client has taken it", `${SERVER_LIMITS.answerMs / 1000} s`],
  [
    'answers that their clients have not taken yet',
    `${SERVER_LIMITS.answeringBytes / MIB} MiB of all clients, ${SERVER_LIMITS.answeringBytesPerConnection / MIB} MiB on one connection`,
  ],
] as const) {
  test(`the limit on ${what} is the documented one`, () => {
    const row = DOCS.split('\n').find((line) => line.startsWith(`| ${what} |`));
    assert.equal(row?.split('|')[2]?.trim(), limit);
  });
}
