// Started by process-lifetime.test.ts: an agent that measures for itself, until it is killed.
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { startAgent } from '../../../src/agent/services/server.js';
import { endless, longProtocol, runOptions } from './tiny-benchmarks.js';
import { measureOne } from './measure-one.js';

const agent = await startAgent();
await measureOne(connectAgent(agent.address), endless, runOptions, longProtocol, {
  onProgress: ({ phase }) => process.stdout.write(`${phase}\n`),
});
