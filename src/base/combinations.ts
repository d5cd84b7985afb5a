/** One combination without values where there are none. */
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

/** Whether no earlier combination has the same values of the names. */
export function isFirstOf<T>(
  combinations: readonly ReadonlyMap<string, T>[],
  index: number,
  names: readonly string[],
): boolean {
  return !combinations
    .slice(0, index)
    .some((one) => names.every((name) => one.get(name) === combinations[index]?.get(name)));
}
