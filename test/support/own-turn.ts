// Imported before the tests of each process. Their measurements wait for the process's own measurements only.
import { TURN_GROUP_VARIABLE } from '../../src/agent/worker/machine-turn.js';

process.env[TURN_GROUP_VARIABLE] = `test ${process.pid}`;
