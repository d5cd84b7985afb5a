import { loadSync } from '@grpc/proto-loader';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { METHODS_WITH_ROLES, ROLES, rolesFor } from '../../src/rpc/roles.js';
import { ALLOWED } from './support/allowed-methods.js';

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

const contract = loadSync(
  readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.proto')),
  { includeDirs: [PROTO_FOLDER] },
);

test('every method of the contract has roles, and of others only health and reflection', () => {
  const paths = Object.values(contract).flatMap((definition) => {
    const methods = 'format' in definition ? [] : Object.values(definition).map(({ path }) => path);
    // Servers of others have this service.
    return methods.filter((path) => !path.startsWith('/inference.'));
  });
  assert.ok(paths.length > 10);
  const ofTheContract = METHODS_WITH_ROLES.filter((path) => !path.startsWith('/grpc.'));
  assert.deepEqual(ofTheContract.toSorted(), paths.toSorted());
  const open = METHODS_WITH_ROLES.filter((path) => rolesFor(path) === 'anyone');
  assert.deepEqual(open.toSorted(), [
    '/grpc.health.v1.Health/Check',
    '/grpc.health.v1.Health/List',
    '/grpc.health.v1.Health/Watch',
    '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
  ]);
});

test('the roles are those of the documentation', () => assert.deepEqual([...ROLES], Object.keys(ALLOWED)));

for (const [role, allowed] of Object.entries(ALLOWED)) {
  test(`a token with the role ${role} allows exactly the methods of this role`, () => {
    const found = METHODS_WITH_ROLES.filter((path) => {
      const roles = rolesFor(path);
      return roles !== 'anyone' && roles.some((one) => one === role);
    });
    assert.deepEqual(found.toSorted(), allowed.toSorted());
  });
}

test('a method outside of the contract is for tokens that allow everything', () => {
  assert.deepEqual(rolesFor('/test.Echo/Repeat'), ['full']);
});
