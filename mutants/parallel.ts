/** Works off a list with several workers, each of which takes the next item when it is free; results in the list's order. */
export async function inParallel<Item, Worker, Result>(
  items: readonly Item[],
  workers: readonly Worker[],
  work: (item: Item, worker: Worker) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const left = items.entries();
  await Promise.all(
    workers.map(async (worker) => {
      for (const [i, item] of left) results[i] = await work(item, worker);
    }),
  );
  return results;
}
