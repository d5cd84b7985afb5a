// Started by run-tests.ts: loads the test files that it is given, so that one process runs them, one after another.
import { pathToFileURL } from 'node:url';
import '../test/support/own-machine-lock.js';

for (const path of process.argv.slice(2)) await import(pathToFileURL(path).href);
