import { PlatformError } from '../../base/errors.js';
import type { FunctionProto, NodeProto } from '../../generated/onnx/onnx.js';
import { domainLabel, normalizeDomain } from '../model/opsets.js';
import { quoted } from '../../base/quoted.js';

function functionKey(domain: string, name: string, overload: string): string {
  return JSON.stringify([normalizeDomain(domain), name, overload]);
}

/** The functions that a model defines. A function takes precedence over an operator of the same name. */
export class FunctionTable {
  readonly #functions: ReadonlyMap<string, FunctionProto>;

  constructor(
    functions: readonly FunctionProto[],
    readonly source: string,
  ) {
    this.#functions = new Map(functions.map((fn) => [functionKey(fn.domain, fn.name, fn.overload), fn]));
    if (this.#functions.size < functions.length) {
      throw new PlatformError('model', `${source} defines a function twice. Export the model again.`);
    }
  }

  get isEmpty(): boolean {
    return this.#functions.size === 0;
  }

  calledBy({ domain, opType, overload }: NodeProto): FunctionProto | undefined {
    return this.isEmpty ? undefined : this.#functions.get(functionKey(domain, opType, overload));
  }

  error(fn: FunctionProto, problem: string): PlatformError {
    const name = `function ${quoted(fn.name)} of domain ${domainLabel(normalizeDomain(fn.domain))}`;
    const advice = 'Export the model with its functions inlined (onnx.inliner).';
    return new PlatformError('model', `${this.source}: ${name} ${problem}. ${advice}`);
  }
}
