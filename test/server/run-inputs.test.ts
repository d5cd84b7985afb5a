import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAddresses } from '../../src/server/run-inputs.js';

test('an event names eight agents, and counts the others', () => {
  const addresses = Array.from({ length: 10 }, (_, at) => `10.0.0.${at}:1`);
  assert.equal(listAddresses([]), '');
  assert.equal(listAddresses(addresses.slice(0, 1)), '10.0.0.0:1');
  assert.equal(listAddresses(addresses.slice(0, 8)), addresses.slice(0, 8).join(', '));
  assert.equal(listAddresses(addresses), `${addresses.slice(0, 8).join(', ')}, 2 more`);
});
