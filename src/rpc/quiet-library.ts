import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';

/**
 * Without this, the gRPC library prints its own message beside ours for every failure. The library's environment
 * variables can turn its messages on.
 */
export function quietLibrary({ env }: Pick<NodeJS.Process, 'env'> = process): void {
  if (env['GRPC_VERBOSITY'] === undefined && env['GRPC_NODE_VERBOSITY'] === undefined) {
    setLogVerbosity(logVerbosity.NONE);
  }
}
