// Imported before the tests of each process. Their measurements wait for the process's own measurements only.
import { LOCK_GROUP_VARIABLE } from '../../src/agent/worker/machine-lock.js';

process.env[LOCK_GROUP_VARIABLE] = `test ${process.pid}`;
