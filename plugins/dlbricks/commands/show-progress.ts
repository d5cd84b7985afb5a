import type { Progress } from '../../../src/plugin-api.js';
import type { EvaluationEvent } from '../measure.js';

function counted(bricks: number): string {
  return bricks === 1 ? '1 brick' : `${bricks} bricks`;
}

/** An evaluation's events as bars and lines. */
export function showProgress(progress: Progress): (event: EvaluationEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'preparing':
        progress.step('preparing', event.done, event.total, event.model);
        break;
      case 'planned':
        progress.note(
          `${event.layers} layers, ${event.unique} unique bricks; ${event.toMeasure} measurements to take, ${event.known} known already`,
        );
        break;
      case 'repeating':
        progress.note(
          `${counted(event.bricks)} once more, in a process of its own: how far processes are apart makes the interval`,
        );
        break;
      case 'measuring':
        progress.step('measuring', event.done, event.total, event.label);
        break;
      case 'running':
        progress.within(`run ${event.runsDone} of ${event.runsTotal}`);
        break;
      case 'warning':
        progress.warn(`warning: ${event.message}`);
        break;
    }
  };
}
