import { loadSync } from '@grpc/proto-loader';
import { service as healthService } from 'grpc-health-check';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startAgent } from '../../src/agent/services/server.js';
import { createRpcClient } from '../../src/rpc/client.js';
import { methodKind } from '../../src/base/method-kind.js';

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

const contract = loadSync(
  readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.proto')),
  { includeDirs: [PROTO_FOLDER] },
);

const KINDS: Readonly<Record<string, string>> = { NO_SIDE_EFFECTS: 'read', IDEMPOTENT: 'idempotent' };

/** Every method of `proto/`, with the kind from its option. */
const methods = Object.values(contract).flatMap((definition) => {
  if ('format' in definition) return [];
  return Object.values(definition).map(({ path, options }) => {
    return { path, kind: KINDS[String(options?.idempotency_level)] ?? 'write' };
  });
});

describe('the contract', () => {
  test('has services', () => assert.ok(methods.length > 10));

  for (const { path, kind } of methods) {
    test(`${path} is ${kind}`, () => assert.equal(methodKind(path), kind));
  }

  test('an unknown method is a write', () => assert.equal(methodKind('/test.Echo/Repeat'), 'write'));
});

const reflectionPath = createRequire(import.meta.url).resolve('@grpc/reflection');
const REFLECTION_PROTO = join(dirname(reflectionPath), '../proto/grpc/reflection/v1/reflection.proto');

interface ReflectionResponse {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
}

async function reflect(t: TestContext, question: object): Promise<ReflectionResponse> {
  const agent = await startAgent();
  const client = createRpcClient(agent.address, 'agent');
  t.after(async () => {
    client.close();
    await agent.close();
  });
  const definition = loadSync(REFLECTION_PROTO)['grpc.reflection.v1.ServerReflection'];
  assert.ok(definition !== undefined && !('format' in definition));
  const method = definition['ServerReflectionInfo'];
  assert.ok(method !== undefined);
  const call = client.duplex(method, { deadlineMs: 5000 });
  call.write(question);
  call.end();
  for await (const answer of call) return answer as ReflectionResponse;
  return assert.fail('no answer');
}

describe('reflection', { timeout: 20_000 }, () => {
  test('lists the services that the server has, and none that only the contract has', async (t) => {
    const { listServicesResponse } = await reflect(t, { listServices: '' });
    const names = listServicesResponse?.service.map(({ name }) => name) ?? [];
    assert.ok(names.includes('mlmodelscope.benchmark.v1.BenchmarkService'));
    assert.ok(!names.includes('carml.org.dlframework.Registry'));
  });

  test('gives the file of a message', async (t) => {
    const question = { fileContainingSymbol: 'mlmodelscope.benchmark.v1.Measurement' };
    const { fileDescriptorResponse } = await reflect(t, question);
    const files = fileDescriptorResponse?.fileDescriptorProto.map(String).join() ?? '';
    assert.match(files, /peak_memory_bytes/);
  });
});

test('every server answers for its services’ health', async (t) => {
  const agent = await startAgent();
  const client = createRpcClient(agent.address, 'agent');
  t.after(async () => {
    client.close();
    await agent.close();
  });
  const check = healthService['Check'];
  assert.ok(check);
  for (const service of ['', 'mlmodelscope.benchmark.v1.BenchmarkService']) {
    const { status } = (await client.unary(check, { service }, { deadlineMs: 5000 })) as { status: string };
    assert.equal(status, 'SERVING');
  }
});
