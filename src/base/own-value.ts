/**
 * An object's own value under a key that is only known at run time; undefined for inherited values, such as
 * `constructor`. It is for objects from outside, such as parsed JSON; our own tables are Maps.
 */
export function ownValue<T>(object: Readonly<Partial<Record<string, T>>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
