// An agent that measures for itself, until it is killed, and prints the phases: node agent-process.js [RUNS]. It measures one run that
// takes half a minute, or so many short ones.
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { endless, longProtocol, relu, runOptions } from './tiny-benchmarks.js';
import { measureOne } from './measure-one.js';

const [runs] = process.argv.slice(2).map(Number);
const agent = await startAgent();
const [benchmark, setup] = runs === undefined ? [endless, longProtocol] : [relu, { ...longProtocol, runs }];
await measureOne(connectAgent(agent.address), benchmark, runOptions, setup, {
  onProgress: ({ phase }) => process.stdout.write(`${phase}\n`),
});
