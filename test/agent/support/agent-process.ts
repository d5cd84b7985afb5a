// An agent that requests a measurement from itself and prints the phases, until it is killed:
// node agent-process.js [RUNS]. It measures RUNS short runs; without RUNS, one run that takes half a minute.
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { endless, longProtocol, relu, runOptions } from './tiny-benchmarks.js';
import { measureOne } from './measure-one.js';

const [runs] = process.argv.slice(2).map(Number);
const agent = await startAgent();
const [benchmark, setup] = runs === undefined ? [endless, longProtocol] : [relu, { ...longProtocol, runs }];
await measureOne(await connectAgent(agent.address), benchmark, runOptions, setup, {
  onProgress: ({ phase }) => process.stdout.write(`${phase}\n`),
});
