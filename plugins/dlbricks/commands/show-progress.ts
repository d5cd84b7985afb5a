import type { Progress } from '../../../src/plugin-api.js';
import type { EstimateEvent } from '../measure/measure-all.js';

function counted(bricks: number): string {
  return bricks === 1 ? '1 brick' : `${bricks} bricks`;
}

/** What is about to be measured. */
export function plannedLine(event: Extract<EstimateEvent, { readonly kind: 'planned' }>): string {
  const { layers, unique, toMeasure, known } = event;
  return `${layers} layers, ${unique} unique bricks; ${toMeasure} measurements to take, ${known} known already`;
}

export function repeatingLine(bricks: number): string {
  return `${counted(bricks)} once more, in a process of its own: how far processes are apart makes the interval`;
}

export function disturbedLine(share: number): string {
  return `once more, as other processes took ${(share * 100).toFixed(0)} % of the processors`;
}

/** An evaluation's events as bars and lines. */
export function showProgress(progress: Progress): (event: EstimateEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'preparing':
        progress.step('preparing', event.done, event.total, event.model);
        break;
      case 'planned':
        progress.note(plannedLine(event));
        break;
      case 'repeating':
        progress.note(repeatingLine(event.bricks));
        break;
      case 'measuring':
        progress.step('measuring', event.done, event.total, event.label);
        break;
      case 'disturbed':
        progress.within(disturbedLine(event.share));
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
