import type * as OnnxRuntimeWeb from 'onnxruntime-web';
import { PlatformError } from '../../base/errors.js';

export type Library = Pick<typeof OnnxRuntimeWeb, 'env' | 'InferenceSession' | 'Tensor'>;

let measuring: { readonly threads: number; readonly library: Promise<Library> } | undefined;
let writing: Promise<Library> | undefined;

async function load(specifier: string, configure: (library: Library) => void): Promise<Library> {
  const library = (await import(specifier)) as Library;
  library.env.logLevel = 'error';
  configure(library);
  return library;
}

/** The number of threads is fixed when the library starts, so each number needs a process of its own. */
export function libraryWithThreads(threads: number): Promise<Library> {
  measuring ??= {
    threads,
    library: load('onnxruntime-web', ({ env }) => {
      env.wasm.numThreads = threads;
    }),
  };
  if (measuring.threads !== threads) {
    const problem = `a process that measures with ${measuring.threads} threads was asked for ${threads}`;
    return Promise.reject(new PlatformError('internal', problem));
  }
  return measuring.library;
}

/**
 * A second copy with memory of its own and a runtime that can write files; see writing-runtime.ts. Not for measuring:
 * calls out of it pass through additional functions. The build for WebAssembly alone shares nothing with the first
 * copy.
 */
export function libraryThatWrites(): Promise<Library> {
  writing ??= load('onnxruntime-web/wasm', ({ env }) => {
    env.wasm.numThreads = 1;
    env.wasm.wasmPaths = { mjs: new URL('./writing-runtime.js', import.meta.url) };
  });
  return writing;
}
