/** A function of an object that is computed once for each, as long as the object lives. */
export function oncePer<Key extends object, Value extends object | string>(make: (key: Key) => Value) {
  const known = new WeakMap<Key, Value>();
  return (key: Key): Value => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}
