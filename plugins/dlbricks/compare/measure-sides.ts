import { type BenchmarkAgent, type Both, type Pair, type System, type Task, taskKey } from '../../../src/plugin-api.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { FIRST_OCCASION, firstTasks, type MeasureSettings, wholeModelTasks } from '../measure/tasks.js';

export interface PreparedSide {
  readonly agent: BenchmarkAgent;
  readonly system: System;
  readonly settings: MeasureSettings;
  readonly models: readonly PreparedModel[];
}

/** Pairs hold what no earlier model has, so that the two sides of a brick are measured within seconds. */
export function pairTasks(sides: Both<PreparedSide>, { isWhole }: { readonly isWhole: boolean }): readonly Pair[] {
  const known = [new Set<string>(), new Set<string>()] as const;
  const requestsOf = (side: 0 | 1, index: number): readonly Task['request'][] => {
    const { models, system, settings } = sides[side];
    const ofModel = models.slice(index, index + 1).filter(({ refusal }) => refusal === undefined);
    const all = [
      ...firstTasks(ofModel, system, settings),
      ...(isWhole ? wholeModelTasks(ofModel, FIRST_OCCASION, settings) : []),
    ];
    const isNew = (request: Task['request']): boolean => {
      const key = taskKey(request);
      return !known[side].has(key) && known[side].add(key).size > 0;
    };
    return all.map(({ request }) => request).filter(isNew);
  };
  const pairs = sides[0].models.map(({ recipe }, index): Pair => {
    return { label: recipe.name, requests: [requestsOf(0, index), requestsOf(1, index)] };
  });
  return pairs.filter(({ requests }) => requests.some((one) => one.length > 0));
}
