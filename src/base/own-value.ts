/** For objects from outside, such as parsed JSON: undefined for inherited values, such as `constructor`. */
export function ownValue<T>(object: Readonly<Partial<Record<string, T>>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
