import { type BenchmarkAgent, type Both, type Pair, type System, type Task, taskKey } from '../../../src/plugin-api.js';
import type { PreparedModel } from '../bricks/prepare-model.js';
import { FIRST_OCCASION, firstTasks, type MeasureSettings, wholeModelTasks } from '../measure/tasks.js';

export interface PreparedSide {
  readonly agent: BenchmarkAgent;
  readonly system: System;
  readonly settings: MeasureSettings;
  readonly models: readonly PreparedModel[];
}

/**
 * What is measured in each round: for each model, the bricks that no earlier model has, and the whole model where it is
 * asked for. So the two sides of a brick are measured within seconds.
 */
export function pairsOf(sides: Both<PreparedSide>, { isWhole }: { readonly isWhole: boolean }): readonly Pair[] {
  const known = [new Set<string>(), new Set<string>()] as const;
  const tasksOf = (side: 0 | 1, index: number): readonly Task[] => {
    const { models, system, settings } = sides[side];
    const ofModel = models.slice(index, index + 1).filter(({ refusal }) => refusal === undefined);
    const all = [
      ...firstTasks(ofModel, system, settings),
      ...(isWhole ? wholeModelTasks(ofModel, FIRST_OCCASION, settings) : []),
    ];
    const isNew = ({ request }: Task): boolean => {
      const key = taskKey(request);
      return !known[side].has(key) && known[side].add(key).size > 0;
    };
    return all.filter(isNew);
  };
  const pairs = sides[0].models.map(({ recipe }, index): Pair => {
    const first = tasksOf(0, index);
    const second = tasksOf(1, index);
    return {
      label: recipe.name,
      requests: [first.map(({ request }) => request), second.map(({ request }) => request)],
    };
  });
  return pairs.filter(({ requests }) => requests.some((one) => one.length > 0));
}
