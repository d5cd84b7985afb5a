/** @param entries what is said of names, which have spaces between them */
export function tableOfNames<Said>(entries: Readonly<Record<string, Said>>): ReadonlyMap<string, Said> {
  return new Map(Object.entries(entries).flatMap(([names, said]) => names.split(' ').map((name) => [name, said])));
}
