// The contract suite against an agent that runs already: `make contract AGENT=host:port`. A token is in
// MLMODELSCOPE_TOKEN.
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import { describeBenchmarkAgent } from './contract.js';

const { AGENT: address, MLMODELSCOPE_TOKEN: token } = process.env;
if (address === undefined || address === '') throw new Error('name an agent, as in AGENT=127.0.0.1:7100');

describeBenchmarkAgent(`the agent at ${address}`, () => connectAgent(address, { security: { token } }));
