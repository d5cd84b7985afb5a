import { after, before } from 'node:test';
import { connectAgent } from '../../../src/agent/client/agent-client.js';
import type { BenchmarkAgent } from '../../../src/agent/benchmark-agent.js';
import { type AgentServerOptions, type RunningAgent, startAgent } from '../../../src/agent/services/server.js';

export interface AgentUnderTest {
  readonly address: string;
  readonly client: BenchmarkAgent;
}

/** Starts one agent for all tests of a suite. The returned function returns it inside a test. */
export function agentForSuite(options?: AgentServerOptions): () => AgentUnderTest {
  let agent: RunningAgent | undefined;
  let client: BenchmarkAgent | undefined;
  before(async () => {
    agent = await startAgent(options);
    client = await connectAgent(agent.address);
  });
  after(async () => {
    await client?.close();
    await agent?.close();
  });
  return () => {
    if (agent === undefined || client === undefined) throw new Error('only inside of a test');
    return { address: agent.address, client };
  };
}
