// Node implements this, but only the types of browsers (lib.dom) declare it.
// Source: https://webassembly.github.io/spec/js-api/

declare namespace WebAssembly {
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }

  class Instance {
    constructor(module: Module, imports: Imports);
  }

  class Memory {
    constructor(limits: { readonly initial: number });
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
  }

  class RuntimeError extends Error {}

  type ImportValue = Memory | ((...args: never) => unknown) | object | number;
  type ModuleImports = Readonly<Record<string, ImportValue>>;
  type Imports = Readonly<Record<string, ModuleImports>>;

  function compile(bytes: Uint8Array): Promise<Module>;
}
