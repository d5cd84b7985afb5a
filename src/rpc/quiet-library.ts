import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';

/** The gRPC library prints its own message for every failure unless its environment variables ask for it. */
export function quietLibrary({ env }: Pick<NodeJS.Process, 'env'> = process): void {
  if (env['GRPC_VERBOSITY'] === undefined && env['GRPC_NODE_VERBOSITY'] === undefined) {
    setLogVerbosity(logVerbosity.NONE);
  }
}
