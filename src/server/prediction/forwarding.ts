import { noOpenModel } from '../../agent/no-open-model.js';
import { PREDICTION_CALL_DEADLINE_MS } from '../../agent/prediction-deadlines.js';
import { PlatformError } from '../../base/errors.js';
import { RecentlyUsed } from '../../base/recently-used.js';
import type { AgentDirectory, RegisteredAgent } from '../../directory/agent-directory.js';
import {
  type Predictor,
  type PredictorOpenRequest,
  PredictService,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import { createRpcClient, type RpcClient } from '../../rpc/client.js';
import type { ClientSecurity } from '../../rpc/security.js';
import { type FailedAgents, hasModel, modelInWords, unmetBy } from './choose-agent.js';

/** The most remembered models. A thousand agents have at most 8000 open, so a forgotten one is closed already. */
const MAX_OPEN = 16_384;

/** Whether an error says that an agent cannot serve now. Another agent might. */
function isPassing(error: unknown): error is PlatformError {
  return error instanceof PlatformError && (error.code === 'unavailable' || error.code === 'exhausted');
}

/** An agent that was started again has another token. */
function agentKey({ address, accessToken }: RegisteredAgent): string {
  return `${address} ${accessToken}`;
}

/** The agents that have clients' models open. A restart of the server forgets them: clients open their models again. */
export class PredictionForwarding {
  readonly #routes: RecentlyUsed<RpcClient>;
  /** By {@link agentKey}; made when they are needed, and closed when the agent is gone. */
  readonly #clients = new Map<string, RpcClient>();

  constructor(
    private readonly agents: AgentDirectory,
    private readonly security: ClientSecurity,
    maxOpen = MAX_OPEN,
  ) {
    this.#routes = new RecentlyUsed(maxOpen);
  }

  /**
   * Opens a model on the fitting agent that was chosen the longest time ago, or on the next one if that cannot serve.
   * @throws PlatformError `not_found` if no agent has the model; `unsupported` if none of those meets the constraints;
   * `unavailable` if no agent is registered; the errors of opening the model
   */
  async open(request: PredictorOpenRequest, signal: AbortSignal): Promise<Predictor> {
    const failed = new Map<string, PlatformError>();
    this.#requireModel(request);
    for (;;) {
      const agent = this.#choose(request, failed);
      const client = this.#clientOf(agent);
      try {
        const predictor = await client.unary(PredictService.open, request, {
          deadlineMs: PREDICTION_CALL_DEADLINE_MS,
          signal,
        });
        this.#routes.keep(predictor.id, client, 1);
        return predictor;
      } catch (error) {
        if (!isPassing(error) || signal.aborted) throw error;
        failed.set(agent.address, error);
      }
    }
  }

  clientFor(id: string): RpcClient {
    const client = this.#routes.get(id);
    if (client === undefined) throw noOpenModel(id, ' through this server');
    return client;
  }

  forget(id: string): void {
    this.#routes.delete(id);
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  /** @throws PlatformError `not_found` if agents are registered, and none of them has the model */
  #requireModel(request: PredictorOpenRequest): void {
    const registered = this.agents.list();
    if (request.modelName === '' || registered.length === 0 || registered.some(hasModel(request))) return;
    const problem = `no registered agent has the model ${modelInWords(request)}`;
    throw new PlatformError('not_found', `${problem}; \`mlmodelscope registry models --server ADDRESS\` lists models`);
  }

  /** @throws PlatformError the agent's own error if no other agent fits and this one has failed */
  #choose(request: PredictorOpenRequest, failed: FailedAgents): RegisteredAgent {
    try {
      return this.agents.choose(unmetBy(request, failed));
    } catch (error) {
      const [first] = failed.values();
      throw failed.size === 1 && first !== undefined ? first : error;
    }
  }

  #clientOf(agent: RegisteredAgent): RpcClient {
    const there = new Set(this.agents.list().map(agentKey));
    const used = new Set(this.#routes.values());
    for (const [key, client] of this.#clients) {
      if (there.has(key) || used.has(client)) continue;
      client.close();
      this.#clients.delete(key);
    }
    const { address, tls, accessToken } = agent;
    const key = agentKey(agent);
    // An agent gets its own token only: anyone who may register an agent would get this server's.
    const security = { ...this.security, token: accessToken || undefined };
    const client = this.#clients.get(key) ?? createRpcClient(address, 'agent', { security, tls });
    this.#clients.set(key, client);
    return client;
  }
}
