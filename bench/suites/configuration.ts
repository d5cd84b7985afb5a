import { groupedBy } from '../../src/base/grouped-by.js';
import type { Exported, ExportedModel } from './exported.js';

/** One cut and one length of bricks, with the data of all exports that have it. */
export interface SuiteConfiguration extends Pick<Exported, 'cut' | 'granularity' | 'batch' | 'system'> {
  /** In the order of the suite, each once. Where several exports have a model, the last one counts. */
  readonly models: readonly ExportedModel[];
  /** The summaries of the exports that these models come from. */
  readonly summaries: readonly Exported['summary'][];
}

/**
 * The data of exports on the models of a suite, one configuration for each cut, length of bricks, size of the batch and
 * system. So a suite can be measured in several runs. The cost of a brick that several runs needed counts in each of
 * them.
 */
export function configurationsOf(
  exports: readonly Exported[],
  suite: readonly string[],
): readonly SuiteConfiguration[] {
  const ofSuite = exports.filter(({ models }) => models.some(({ name }) => suite.includes(name)));
  const groups = groupedBy(ofSuite, ({ cut, granularity, batch, system }) => {
    return JSON.stringify([cut, granularity, batch, system.fingerprint]);
  });
  return [...groups.values()].map((group) => {
    const last = new Map<string, { readonly model: ExportedModel; readonly of: Exported }>();
    for (const of of group) for (const model of of.models) last.set(model.name, { model, of });
    const found = suite.flatMap((name) => last.get(name) ?? []);
    const [{ cut, granularity, batch, system }] = group as [Exported, ...Exported[]];
    const summaries = [...new Set(found.map(({ of }) => of))].map(({ summary }) => summary);
    return { cut, granularity, batch, system, models: found.map(({ model }) => model), summaries };
  });
}
