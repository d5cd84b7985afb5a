// The WebAssembly runtime with files that it can write. The published build has none (Emscripten's FILESYSTEM=0): its
// calls to open, write and close end in stubs. The library loads this module in place of its own
// (env.wasm.wasmPaths.mjs), and this module answers the runtime's file calls before they reach the stubs.
//
// The calls have minified names, so they are recognized by their arguments: a call that creates a file has the
// directory AT_FDCWD and the flag O_CREAT, and all later calls have the descriptor that we return. Source: musl's
// fcntl.h and the system calls of Emscripten and of WASI (wasi_snapshot_preview1).
import { readFileSync } from 'node:fs';
import type { WrittenFiles } from './written-files.js';

const AT_FDCWD = -100;
const O_CREAT = 0o100;
/** Flags are below this value, addresses of buffers are above. */
const FLAGS_END = 0x20_0000;
const ENOTTY = 59;
const TIOCGWINSZ = 0x5413;
const WASI_OK = 0;
const WASI_EIO = 29;
const WASI_ESPIPE = 70;
const SEEK_SET = 0;
const SEEK_CUR = 1;

const PATH_BYTES = 4096;

type Call = (...args: readonly (number | bigint)[]) => unknown;

interface ModuleConfig {
  readonly instantiateWasm?: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => void;
}

type ModuleFactory = (config: ModuleConfig) => Promise<unknown>;

let files: WrittenFiles | undefined;

/** One call at a time. */
export async function whileWritingTo<T>(target: WrittenFiles, act: () => Promise<T>): Promise<T> {
  files = target;
  try {
    return await act();
  } finally {
    files = undefined;
    target.closeAll();
  }
}

function textAt(memory: WebAssembly.Memory, address: number): string {
  // A copy, because TextDecoder does not decode shared memory.
  const bytes = new Uint8Array(
    memory.buffer,
    address,
    Math.min(PATH_BYTES, memory.buffer.byteLength - address),
  ).slice();
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
}

interface CallOfRuntime {
  readonly memory: WebAssembly.Memory;
  readonly args: readonly (number | bigint)[];
  readonly to: WrittenFiles;
}

/** `open(AT_FDCWD, path, flags, …)` that creates a file. */
function create({ memory, args: [directory, path, flags, mode], to }: CallOfRuntime): number | undefined {
  if (directory !== AT_FDCWD || typeof path !== 'number' || typeof flags !== 'number' || mode === undefined) return;
  if ((flags & O_CREAT) === 0 || flags < 0 || flags >= FLAGS_END) return undefined;
  return to.create(textAt(memory, path >>> 0)) ?? -WASI_EIO;
}

/** `fd_write(descriptor, vectors, count, result)`: each vector is an address and a length. */
function write({ memory, to }: CallOfRuntime, descriptor: number, vectors: number, count: number, result: number) {
  const view = new DataView(memory.buffer);
  let written = 0;
  for (let vector = vectors; vector < vectors + 8 * count; vector += 8) {
    const length = view.getUint32(vector + 4, true);
    const bytes = new Uint8Array(memory.buffer, view.getUint32(vector, true), length);
    if (!to.write(descriptor, bytes)) return WASI_EIO;
    written += length;
  }
  view.setUint32(result, written, true);
  return WASI_OK;
}

/** `fd_seek(descriptor, offset, whence, result)`; the end of a file is not known here. */
function seek({ memory, to }: CallOfRuntime, descriptor: number, offset: bigint, whence: number, result: number) {
  if (whence !== SEEK_SET && whence !== SEEK_CUR) return WASI_ESPIPE;
  const position = to.seek(descriptor, Number(offset), whence === SEEK_SET ? 'beginning' : 'position');
  if (position === undefined) return WASI_ESPIPE;
  new DataView(memory.buffer).setBigUint64(result, BigInt(position), true);
  return WASI_OK;
}

function answer(call: CallOfRuntime): number | undefined {
  const { args, to } = call;
  const [descriptor, second, third, fourth] = args;
  if (typeof descriptor !== 'number' || !to.has(descriptor)) return create(call);
  if (args.length === 1) {
    to.close(descriptor);
    return WASI_OK;
  }
  if (args.length === 3 && second === TIOCGWINSZ) return -ENOTTY;
  if (args.length !== 4 || typeof third !== 'number' || typeof fourth !== 'number') return undefined;
  if (typeof second === 'bigint') return seek(call, descriptor, second, third, fourth >>> 0);
  return write(call, descriptor, (second ?? 0) >>> 0, third, fourth >>> 0);
}

function memoryIn(imports: WebAssembly.ModuleImports): WebAssembly.Memory {
  const memory = Object.values(imports).find((value) => value instanceof WebAssembly.Memory);
  if (memory === undefined) throw new Error('the WebAssembly runtime does not import its memory as expected');
  return memory;
}

function withFiles(imports: WebAssembly.ModuleImports): WebAssembly.ModuleImports {
  const memory = memoryIn(imports);
  const wrapped = Object.entries(imports).map(([name, value]): [string, WebAssembly.ImportValue] => {
    if (typeof value !== 'function') return [name, value];
    const stub = value as Call;
    const call: Call = (...args) => {
      const ours = files === undefined ? undefined : answer({ memory, args, to: files });
      return ours ?? stub(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(wrapped);
}

export default async function createRuntime(config: ModuleConfig): Promise<unknown> {
  const [factoryUrl, binaryUrl] = ['mjs', 'wasm'].map((kind) => {
    return new URL(import.meta.resolve(`onnxruntime-web/ort-wasm-simd-threaded.${kind}`));
  }) as [URL, URL];
  const { default: factory } = (await import(factoryUrl.href)) as { readonly default: ModuleFactory };
  const module = await WebAssembly.compile(readFileSync(binaryUrl));
  return factory({
    ...config,
    instantiateWasm(imports, receive) {
      const given = Object.entries(imports).map(([name, functions]) => [name, withFiles(functions)]);
      receive(new WebAssembly.Instance(module, Object.fromEntries(given) as WebAssembly.Imports), module);
    },
  });
}
