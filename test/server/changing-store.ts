import { PlatformError } from '../../src/base/errors.js';
import type { ResultStore } from '../../src/store/result-store.js';

/** A method of an object, or something else that it has. */
function ownOf<T extends object>(target: T, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

/** The result of a change in a killed process: a promise that is never settled. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

/** The result of a change on a full disk. */
export function full(): Promise<never> {
  return Promise.reject(new PlatformError('storage', 'the disk is full'));
}

/**
 * A store whose changes go through a function.
 *
 * @param change makes a change by calling `work`, or leaves it out; `document` is the document that is put
 */
export function withChanges(
  store: ResultStore,
  change: (work: () => Promise<unknown>, document?: object) => Promise<unknown>,
): ResultStore {
  const collection: ResultStore['collection'] = (definition) => {
    return new Proxy(store.collection(definition), {
      get: (target, name) => {
        if (name === 'delete') return (match: object) => change(() => target.delete(match));
        if (name !== 'put' && name !== 'insert') return ownOf(target, name);
        return (document: Parameters<typeof target.put>[0]) => change(() => target[name](document), document);
      },
    });
  };
  return new Proxy(store, { get: (target, name) => (name === 'collection' ? collection : ownOf(target, name)) });
}
