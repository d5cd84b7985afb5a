/**
 * Yields each value as soon as it is there. The first error of a source ends all of them.
 *
 * @param stop called before the sources are closed, so that a waiting source ends as well
 */
export async function* merged<T>(
  sources: readonly AsyncIterable<T>[],
  stop: () => void = () => {},
): AsyncGenerator<T, undefined, undefined> {
  const next = async (source: AsyncIterator<T>) => ({ source, result: await source.next() });
  const waiting = new Map(
    sources.map((each) => {
      const source = each[Symbol.asyncIterator]();
      return [source, next(source)] as const;
    }),
  );
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done === true) waiting.delete(source);
      else {
        waiting.set(source, next(source));
        yield result.value;
      }
    }
  } finally {
    stop();
    await Promise.allSettled([...waiting.values(), ...[...waiting.keys()].map(async (source) => source.return?.())]);
  }
}
