// The WebAssembly runtime with files that it can write. The published build has none (Emscripten's FILESYSTEM=0): its
// calls to open, write and close end in stubs. It does save its optimized graph when asked to, so all that is missing
// is a place for the bytes. This module stands in for the one that the library would load (env.wasm.wasmPaths.mjs), and
// gives the runtime's calls such a place before they reach the stubs.
//
// The calls have minified names, so they are recognized by their arguments: creating a file comes with the directory
// AT_FDCWD and the flag O_CREAT, and everything after it with the descriptor that we gave. Source: musl's fcntl.h and
// the system calls of Emscripten and of WASI (wasi_snapshot_preview1).
import { readFileSync } from 'node:fs';
import type { WrittenFiles } from './written-files.js';

const AT_FDCWD = -100;
const O_CREAT = 0o100;
/** Flags are below this, addresses of buffers above. */
const FLAGS_END = 0x20_0000;
const ENOTTY = 59;
const TIOCGWINSZ = 0x5413;
const WASI_OK = 0;
const WASI_EIO = 29;
const WASI_ESPIPE = 70;
const SEEK_SET = 0;
const SEEK_CUR = 1;

/** Longest path that is looked at. */
const PATH_BYTES = 4096;

type Call = (...args: readonly (number | bigint)[]) => unknown;

/** The argument of Emscripten's module factory. Source: "instantiateWasm", Emscripten's Module object. */
interface ModuleConfig {
  readonly instantiateWasm?: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => void;
}

type ModuleFactory = (config: ModuleConfig) => Promise<unknown>;

let files: WrittenFiles | undefined;

/** Redirects the runtime's writes during `act` to `target`; one call at a time. */
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
  // A copy, since texts of shared memory are not decoded.
  const bytes = new Uint8Array(
    memory.buffer,
    address,
    Math.min(PATH_BYTES, memory.buffer.byteLength - address),
  ).slice();
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(bytes.subarray(0, end < 0 ? bytes.length : end));
}

/** A call of the runtime with whole numbers, as far as those that matter here go. */
interface CallOfRuntime {
  readonly memory: WebAssembly.Memory;
  readonly args: readonly (number | bigint)[];
  readonly to: WrittenFiles;
}

/** `open(AT_FDCWD, path, flags, …)` of a file that is to be made. */
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

/** `fd_seek(descriptor, offset, whence, result)`, where only the end is unknown here. */
function seek({ memory, to }: CallOfRuntime, descriptor: number, offset: bigint, whence: number, result: number) {
  if (whence !== SEEK_SET && whence !== SEEK_CUR) return WASI_ESPIPE;
  const position = to.seek(descriptor, Number(offset), whence === SEEK_SET ? 'beginning' : 'position');
  if (position === undefined) return WASI_ESPIPE;
  new DataView(memory.buffer).setBigUint64(result, BigInt(position), true);
  return WASI_OK;
}

/** Answers a call that is about one of our files; undefined for every other one. */
function answer(call: CallOfRuntime): number | undefined {
  const { args, to } = call;
  const [descriptor, second, third, fourth] = args;
  if (typeof descriptor !== 'number' || !to.has(descriptor)) return create(call);
  if (args.length === 1) {
    to.close(descriptor);
    return WASI_OK;
  }
  // Whether it is a terminal, which would be written to line by line.
  if (args.length === 3 && second === TIOCGWINSZ) return -ENOTTY;
  if (args.length !== 4 || typeof third !== 'number' || typeof fourth !== 'number') return undefined;
  if (typeof second === 'bigint') return seek(call, descriptor, second, third, fourth >>> 0);
  return write(call, descriptor, (second ?? 0) >>> 0, third, fourth >>> 0);
}

function memoryIn(imports: WebAssembly.ModuleImports): WebAssembly.Memory {
  const memory = Object.values(imports).find((value) => value instanceof WebAssembly.Memory);
  if (memory === undefined) throw new Error('the WebAssembly runtime brings its memory in another way than expected');
  return memory;
}

/** The imports with our answers before the stubs'. */
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

/** The function that the library calls to load its runtime. */
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
