// Imported before each test file. What it measures waits for its own measurements only, not for those of other files.
import { TURN_GROUP_VARIABLE } from '../../src/agent/worker/machine-turn.js';

process.env[TURN_GROUP_VARIABLE] ??= `test ${process.pid}`;
