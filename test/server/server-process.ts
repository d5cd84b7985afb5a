// Started by tests: a server in a process of its own with an evaluation that has ended. It reports its peak memory.
import { PlatformError } from '../../src/base/errors.js';
import type { ServerLimits } from '../../src/rpc/limits.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { addEvaluationService } from '../../src/server/evaluation-service.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { openPlatform, submitted } from './fake-platform.js';
import { scripted } from './scripted-evaluation.js';

/** Its command line, as JSON. */
export interface ServerProcessOptions {
  readonly evaluation: string;
  readonly resultCharacters: number;
  readonly limits: Partial<ServerLimits>;
}

async function main({ evaluation, resultCharacters, limits }: ServerProcessOptions): Promise<void> {
  const server = createRpcServer({ limits });
  const { platform, attach } = await openPlatform({ store: await openMemoryStore() });
  addEvaluationService(server, platform);
  attach(
    scripted(async function* () {
      yield await Promise.resolve({ kind: 'done', result: 'x'.repeat(resultCharacters), partial: false });
    }),
  );
  await platform.submit(evaluation, submitted());
  for await (const { event } of platform.follow(evaluation, 0, new AbortController().signal)) {
    if (event.kind === 'failed') throw new PlatformError(event.code, event.message);
  }
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  process.on('message', () => process.send?.({ peakBytes: process.resourceUsage().maxRSS * 1024 }));
  process.send?.({ address });
}

const [, , options] = process.argv;
if (options !== undefined && process.send !== undefined) await main(JSON.parse(options) as ServerProcessOptions);
