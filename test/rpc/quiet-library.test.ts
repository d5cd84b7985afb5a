import { logVerbosity, setLogger, setLogVerbosity } from '@grpc/grpc-js';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test, type TestContext } from 'node:test';
import { quietLibrary } from '../../src/rpc/quiet-library.js';

/** The function that the library itself calls if something fails. */
const { log } = createRequire(import.meta.url)('@grpc/grpc-js/build/src/logging.js') as {
  readonly log: (severity: logVerbosity, message: string) => void;
};

/** Whether the library's messages are printed with these variables. */
function isHeard(t: TestContext, env: NodeJS.ProcessEnv): boolean {
  const said: unknown[] = [];
  setLogger({ error: (message: unknown) => said.push(message) });
  t.after(() => setLogger(console));
  setLogVerbosity(logVerbosity.ERROR);
  quietLibrary({ env });
  log(logVerbosity.ERROR, 'a fault');
  return said.length > 0;
}

test('the gRPC library is silent, unless one of its variables says otherwise', (t) => {
  const environments = [{}, { GRPC_VERBOSITY: 'ERROR' }, { GRPC_NODE_VERBOSITY: 'ERROR' }];
  assert.deepEqual(
    environments.map((env) => isHeard(t, env)),
    [false, true, true],
  );
});
