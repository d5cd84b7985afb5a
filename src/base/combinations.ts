/** Each combination of values, as of the sizes of dimensions; one without values where there are none. */
export function combine<T extends number | string>(
  values: ReadonlyMap<string, T | readonly T[]> = new Map(),
): readonly ReadonlyMap<string, T>[] {
  let all: readonly ReadonlyMap<string, T>[] = [new Map()];
  for (const [name, some] of values) {
    const several = typeof some === 'object' ? some : [some];
    all = all.flatMap((one) => several.map((value) => new Map([...one, [name, value]])));
  }
  return all;
}
