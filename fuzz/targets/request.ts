import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MethodDefinition } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { RegistryService } from '../../src/generated/carml/org/dlframework/registry.js';
import { BenchmarkServiceService } from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { EvaluationServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/evaluation_service.js';
import { PluginServiceService } from '../../src/generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { PredictService } from '../../src/generated/mlmodelscope/org/dlframework/predictor.js';
import { PredictionServiceService } from '../../src/generated/mlmodelscope/prediction/v1/prediction.js';
import { AgentRegistryServiceService } from '../../src/generated/mlmodelscope/registry/v1/registry.js';
import { TraceServiceService } from '../../src/generated/mlmodelscope/trace/v1/trace.js';
import { contractFormat } from '../../src/rpc/message-format.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateMessage } from '../mutate/message.js';
import { SampleMessages } from './sample-message.js';
import { readOrRefused, type Target } from './target.js';

const PROTO = join(import.meta.dirname, '../../../proto');

const METHODS = [
  RegistryService,
  BenchmarkServiceService,
  EvaluationServiceService,
  PluginServiceService,
  PredictService,
  PredictionServiceService,
  AgentRegistryServiceService,
  TraceServiceService,
].flatMap((service) => Object.values(service) as unknown as MethodDefinition<unknown, unknown>[]);

const HELD_BYTES = 64 * 2 ** 20;

function loadContract(): PackageDefinition {
  const files = readdirSync(PROTO, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.proto'));
  return loadSync(files, { includeDirs: [PROTO] });
}

/** The full name of the type of each method's requests, by the method's path. */
function requestTypes(contract: PackageDefinition): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  const names = new Map(Object.entries(contract).map(([name, definition]) => [definition, name] as const));
  const byType = new Map<unknown, string>();
  for (const [definition, name] of names) if ('format' in definition) byType.set(definition.type, name);
  for (const definition of Object.values(contract)) {
    if ('format' in definition) continue;
    for (const method of Object.values(definition)) {
      types.set(method.path, byType.get((method as { requestType: { type: unknown } }).requestType.type) ?? '');
    }
  }
  return types;
}

/** Decodes a request as a server does, and encodes the result again. */
function receive(input: Uint8Array): void {
  const method = METHODS[(input[0] ?? 0) % METHODS.length];
  if (method === undefined) return;
  const { request } = contractFormat(method).decode(Buffer.from(input.subarray(1)), HELD_BYTES);
  method.requestSerialize(request);
}

/** Requests of every method of the contract, decoded as servers decode them. The first byte selects the method. */
export const request: Target = {
  name: 'request',
  seeds() {
    const contract = loadContract();
    const types = requestTypes(contract);
    const samples = new SampleMessages(contract);
    return Promise.resolve(
      METHODS.map(({ path }, i) => Buffer.concat([Uint8Array.of(i), samples.encode(types.get(path) ?? '')])),
    );
  },
  mutate(input, random) {
    const change = random.oneIn(10) ? mutateBytes : mutateMessage;
    return Buffer.concat([input.subarray(0, 1), change(input.subarray(1), random)]);
  },
  check: (input) => readOrRefused(() => receive(input), 'request'),
};
