import { create, createFileRegistry, fromBinary, type DescFile, type DescMessage } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt';
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

type Reflect = (question: object) => Promise<ReflectionResponse>;

async function reflection(t: TestContext): Promise<Reflect> {
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
  return async (question) => {
    const call = client.duplex(method, { deadlineMs: 5000 });
    call.write(question);
    call.end();
    for await (const answer of call) return answer as ReflectionResponse;
    return assert.fail('no answer');
  };
}

function filesOf({ fileDescriptorResponse }: ReflectionResponse): readonly FileDescriptorProto[] {
  return (fileDescriptorResponse?.fileDescriptorProto ?? []).map((bytes) => {
    return fromBinary(FileDescriptorProtoSchema, bytes);
  });
}

/** The files of the symbols, and all that they import: each is asked for by its name. */
async function resolveAll(reflect: Reflect, symbols: readonly string[]): Promise<readonly DescFile[]> {
  const inOrder = new Map<string, FileDescriptorProto>();
  const add = async (file: FileDescriptorProto): Promise<void> => {
    for (const name of file.dependency.filter((other) => !inOrder.has(other))) {
      const [imported] = filesOf(await reflect({ fileByFilename: name }));
      assert.equal(imported?.name, name);
      await add(imported);
    }
    inOrder.set(file.name, file);
  };
  for (const symbol of symbols) {
    const [file] = filesOf(await reflect({ fileContainingSymbol: symbol }));
    assert.ok(file, symbol);
    if (!inOrder.has(file.name)) await add(file);
  }
  // It throws if a type cannot be resolved.
  return [...createFileRegistry(create(FileDescriptorSetSchema, { file: [...inOrder.values()] })).files];
}

/** The files that define the types of a message's fields, its inner messages included. */
function filesOfFields(message: DescMessage): readonly DescFile[] {
  const own = message.fields.flatMap((field) => [...optional(field.message), ...optional(field.enum)]);
  return [...own.map(({ file }) => file), ...message.nestedMessages.flatMap(filesOfFields)];
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

describe('reflection', { timeout: 60_000 }, () => {
  test('lists the services that the server has, and none that only the contract has', async (t) => {
    const reflect = await reflection(t);
    const { listServicesResponse } = await reflect({ listServices: '' });
    const names = listServicesResponse?.service.map(({ name }) => name) ?? [];
    assert.ok(names.includes('mlmodelscope.benchmark.v1.BenchmarkService'));
    assert.ok(!names.includes('carml.org.dlframework.Registry'));
  });

  test('gives the file of a message as it is in proto/', async (t) => {
    const reflect = await reflection(t);
    const [file] = filesOf(await reflect({ fileContainingSymbol: 'mlmodelscope.benchmark.v1.Measurement' }));
    assert.equal(file?.name, 'mlmodelscope/benchmark/v1/benchmark.proto');
    assert.ok(file.messageType.some(({ field }) => field.some(({ name }) => name === 'peak_memory_bytes')));
  });

  test('is enough to resolve every service and every type', async (t) => {
    const symbols = Object.keys(contract);
    assert.ok(symbols.length > 100);
    for (const file of await resolveAll(await reflection(t), symbols)) {
      const types = file.services.flatMap(({ methods: of }) => of.flatMap(({ input, output }) => [input, output]));
      const used = [...file.messages.flatMap(filesOfFields), ...types.map((type) => type.file)];
      const imported = [file, ...file.dependencies].map(({ name }) => name);
      for (const { name } of used) assert.ok(imported.includes(name), `${file.name} does not import ${name}`);
    }
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
