import { monotonicClock } from '../base/clock.js';
import { PlatformError } from '../base/errors.js';
import { AgentRegistryServiceService } from '../generated/mlmodelscope/registry/v1/registry.js';
import { createRpcClient, type RpcClient, type RpcClientOptions } from '../rpc/client.js';
import { fromWireDuration } from '../rpc/duration.js';
import { stayConnected, type StayConnectedOptions } from '../rpc/stay-connected.js';
import type { AgentOffer } from './agent-offer.js';
import { toWireAgent } from './agent-wire.js';

const { registerAgent, renewAgent, unregisterAgent } = AgentRegistryServiceService;

const CALL_DEADLINE_MS = 5000;

/** The server may be gone. */
const FAREWELL_DEADLINE_MS = 1000;

/** Two of them may get lost. */
const RENEWALS_PER_LEASE = 3;

export interface AnnounceOptions extends StayConnectedOptions {
  /** The server and its plugins show it to the agent. */
  readonly accessToken?: string | undefined;
  readonly client?: RpcClientOptions | undefined;
  /** Called again after the server lost the lease, and after renewals failed: then it may still have the lease. */
  readonly onRegistered?: ((isAgain: boolean) => void) | undefined;
}

interface Lease {
  readonly id: string;
  readonly renewMs: number;
}

async function register(client: RpcClient, server: string, offer: AgentOffer, accessToken: string): Promise<Lease> {
  const request = { agent: toWireAgent(offer), accessToken };
  const { agentId, lease } = await client.unary(registerAgent, request, { deadlineMs: CALL_DEADLINE_MS });
  const leaseMs = fromWireDuration(lease) ?? 0;
  if (leaseMs <= 0) throw new PlatformError('unsupported', `the server at ${server} gives no lease`);
  return { id: agentId, renewMs: leaseMs / RENEWALS_PER_LEASE };
}

async function renew(client: RpcClient, { id }: Lease): Promise<boolean> {
  try {
    await client.unary(renewAgent, { agentId: id }, { deadlineMs: CALL_DEADLINE_MS });
    return true;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'not_found') return false;
    throw error;
  }
}

/**
 * Keeps an agent registered, through restarts of the server, until the signal aborts; then it ends the registration.
 *
 * @throws PlatformError where the server refuses the agent: a wrong token, an invalid offer
 */
export async function announceAgent(offer: AgentOffer, server: string, options: AnnounceOptions): Promise<void> {
  const { accessToken = '', signal, onRegistered, onLost } = options;
  const client = createRpcClient(server, 'server', options.client);
  let lease: Lease | undefined;
  let isLost = false;
  const stayRegistered = async (answers: () => void): Promise<void> => {
    while (!signal.aborted) {
      const isAgain = lease !== undefined;
      if (lease === undefined || !(await renew(client, lease))) {
        isLost = true;
        lease = await register(client, server, offer, accessToken);
      }
      if (isLost) onRegistered?.(isAgain);
      isLost = false;
      answers();
      await monotonicClock.sleep(lease.renewMs, signal);
    }
  };
  try {
    await stayConnected(stayRegistered, {
      signal,
      onLost: (problem) => {
        isLost = true;
        onLost?.(problem);
      },
    });
    if (lease === undefined) return;
    await client.unary(unregisterAgent, { agentId: lease.id }, { deadlineMs: FAREWELL_DEADLINE_MS }).catch(() => {});
  } finally {
    client.close();
  }
}
