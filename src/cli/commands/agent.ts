import { type Command, InvalidArgumentError, Option } from "commander";
import { startAgent } from "../../agent/server.js";
import type { CommandHost } from "../../evaluation/plugin.js";
import {
  DEFAULT_FRAMEWORK,
  FRAMEWORK_NAMES,
  type FrameworkName,
} from "../../predictor/frameworks.js";
import { resolveBenchmark } from "../../registry/resolve-benchmark.js";

interface Address {
  readonly host: string;
  readonly port: number;
}

function parseAddress(text: string): Address {
  const match =
    /^(?:\[(?<ipv6>[0-9a-fA-F:]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/.exec(
      text,
    );
  const port = Number(match?.groups?.["port"]);
  const host = match?.groups?.["ipv6"] ?? match?.groups?.["host"];
  if (host === undefined || port > 65_535) {
    throw new InvalidArgumentError(
      "expected HOST:PORT, for example 127.0.0.1:7070 or [::1]:7070",
    );
  }
  return { host, port };
}

/** `mlmodelscope agent`: serves this machine until it is stopped. */
export function registerAgentCommand(
  program: Command,
  host: CommandHost,
): void {
  program
    .command("agent")
    .description(
      "Serve this machine: measure benchmarks and open models over gRPC, until stopped with Ctrl-C",
    )
    .option(
      "--listen <host:port>",
      "address to listen on; port 0 takes a free one",
      parseAddress,
      {
        host: "127.0.0.1",
        port: 7070,
      },
    )
    .addOption(
      new Option("--framework <name>", "what runs the models")
        .choices(FRAMEWORK_NAMES)
        .default(DEFAULT_FRAMEWORK),
    )
    .addHelpText(
      "after",
      `
The agent measures one benchmark at a time, in a process of its own, and answers
the standard gRPC health check meanwhile. It has no authentication: listen on an
address other than loopback only in a network that you trust.

Examples:
  mlmodelscope agent --listen 127.0.0.1:7070
  mlmodelscope agent --framework onnxruntime-web
  mlmodelscope dlbricks validate zoo:resnet18 --server 127.0.0.1:7070`,
    )
    .action(
      async ({
        listen,
        framework,
      }: {
        listen: Address;
        framework: FrameworkName;
      }) => {
        const agent = await startAgent({
          ...listen,
          framework,
          resolveModel: resolveBenchmark,
        });
        host.print(`agent listening on ${agent.address}\n`);
        await new Promise<void>((resolve) => {
          if (host.signal.aborted) resolve();
          host.signal.addEventListener("abort", () => resolve(), {
            once: true,
          });
        });
        await agent.close();
      },
    );
}
