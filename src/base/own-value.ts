/**
 * What an object itself has under a key that is only known at run time; undefined for what it merely inherits, such as
 * `constructor`. For objects that come as they are, parsed JSON for one; a table of our own is a Map.
 */
export function ownValue<T>(object: Readonly<Partial<Record<string, T>>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
