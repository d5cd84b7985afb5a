import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startAgent } from '../../src/agent/services/server.js';
import { CountingReader } from '../../src/rpc/counting-reader.js';
import { Input } from '../../src/generated/mlmodelscope/benchmark/v1/benchmark.js';
import { startServer } from '../../src/server/server.js';
import { openMemoryStore } from '../../src/store/memory/open.js';
import { handMadeClient, MANY_VALUES, messagePrefix } from './support/hostile.js';

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));

const contract = loadSync(
  readdirSync(PROTO_FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.proto')),
  { includeDirs: [PROTO_FOLDER] },
);

/** The path of every method whose service is in one of these packages. */
function pathsOf(...packages: readonly string[]): readonly string[] {
  return Object.entries(contract).flatMap(([name, definition]) => {
    if ('format' in definition || !packages.some((prefix) => name.startsWith(prefix))) return [];
    return Object.values(definition).map(({ path }) => path);
  });
}

const STANDARD = [
  '/grpc.health.v1.Health/Check',
  '/grpc.health.v1.Health/Watch',
  '/grpc.health.v1.Health/List',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
];

async function answerTo(t: TestContext, address: string, path: string, body: Buffer) {
  const stream = handMadeClient(t, address).call(path);
  stream.end(Buffer.concat([messagePrefix(body.length), body]));
  return stream.ended;
}

const servers = [
  {
    name: 'the server',
    packages: [
      'mlmodelscope.evaluation',
      'mlmodelscope.registry',
      'mlmodelscope.org',
      'mlmodelscope.prediction',
      'carml',
    ],
    start: async () => startServer({ listen: { host: '127.0.0.1', port: 0 }, store: await openMemoryStore() }),
  },
  {
    name: 'an agent',
    packages: ['mlmodelscope.benchmark', 'mlmodelscope.trace', 'mlmodelscope.org', 'mlmodelscope.prediction'],
    start: () => startAgent(),
  },
] as const;

describe('requests with more values than fit in memory', { timeout: 60_000 }, () => {
  for (const { name, packages, start } of servers) {
    test(`are refused by every method of ${name}`, async (t) => {
      const server = await start();
      t.after(() => server.close());
      const paths = pathsOf(...packages);
      assert.ok(paths.length >= 8);
      for (const path of paths) {
        const { grpcStatus, message } = await answerTo(t, server.address, path, MANY_VALUES);
        assert.equal(grpcStatus, status.INVALID_ARGUMENT, `${path}: ${message}`);
        assert.match(message, /more than the \d+ values|bytes; this method takes at most/, path);
      }
    });

    test(`are refused by ${name}, also for health checks and reflection`, async (t) => {
      const server = await start();
      t.after(() => server.close());
      for (const path of STANDARD) {
        const { grpcStatus, message } = await answerTo(t, server.address, path, MANY_VALUES);
        assert.equal(grpcStatus, status.INVALID_ARGUMENT, path);
        assert.match(message, /2097152 bytes; this method takes at most 4096/, path);
      }
    });
  }
});

describe('a reader that counts', () => {
  /** An input of a benchmark with many dimensions, each of one byte. */
  const input = (dims: number): Uint8Array => {
    return Input.encode(Input.create({ name: 'x', dims: new Array<bigint>(dims).fill(1n) })).finish();
  };
  const read = (bytes: Uint8Array, most: number): { readonly values: number; readonly input: Input } => {
    const reader = new CountingReader(bytes, most, () => new RangeError('enough'));
    return { input: Input.decode(reader), values: reader.values };
  };

  test('counts packed values as well', () => {
    const bytes = input(1000);
    // The dimensions, and a tag and a length each for name and dims. The bytes of the name do not count.
    assert.equal(read(bytes, 2000).values, 1000 + 2 + 2);
    assert.throws(() => read(bytes, 1003), /enough/);
  });

  test('skips unknown fields of every type, but not past the end', () => {
    // Field 100 of each type: a varint, 64 bits, some bytes, a group with a varint, 32 bits.
    const unknown = new BinaryWriter()
      .tag(100, WireType.Varint)
      .uint64(2n ** 64n - 1n)
      .tag(100, WireType.Bit64)
      .fixed64(1n)
      .tag(100, WireType.LengthDelimited)
      .bytes(Uint8Array.of(1, 2, 3))
      .tag(100, WireType.StartGroup)
      .tag(1, WireType.Varint)
      .uint32(5)
      .tag(100, WireType.EndGroup)
      .tag(100, WireType.Bit32)
      .fixed32(1)
      .finish();
    const known = input(3);
    assert.deepEqual(read(Buffer.concat([unknown, known, unknown]), 100).input, read(known, 100).input);
    for (const [type, bytes] of [
      [WireType.Varint, [0x80]],
      [WireType.Bit64, [0, 0]],
      [WireType.LengthDelimited, [9, 0]],
      [WireType.Bit32, [0]],
    ] as const) {
      const cut = Buffer.concat([new BinaryWriter().tag(100, type).finish(), Uint8Array.from(bytes)]);
      assert.throws(() => read(cut, 100), /premature EOF/, `${type}`);
    }
  });

  test('reads the same as a reader that does not count', () => {
    const message = {
      name: 'é',
      role: 2,
      elementType: 'float32',
      dims: [1n, 2n ** 63n],
      low: -0.5,
      high: 1e300,
      seed: 7n,
      values: [],
      given: false,
    };
    assert.deepEqual(read(Input.encode(message).finish(), 100).input, message);
  });
});
