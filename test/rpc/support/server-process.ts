// Started by hostile-clients.test.ts: a server in a process of its own, which reports its peak memory.
import type { ServerLimits } from '../../../src/rpc/limits.js';
import { createRpcServer } from '../../../src/rpc/server.js';
import { addEcho } from './echo.js';

const server = createRpcServer({ limits: JSON.parse(process.argv[2] ?? '{}') as Partial<ServerLimits> });
addEcho(server);
const address = await server.listen({ host: '127.0.0.1', port: 0 });
process.on('message', () => process.send?.({ peakBytes: process.resourceUsage().maxRSS * 1024 }));
process.send?.({ address });
