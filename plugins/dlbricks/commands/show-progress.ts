import type { EvaluationEvent, Progress } from '../../../src/plugin-api.js';

/** An evaluation's events as bars and lines. */
export function showProgress(progress: Progress): (event: EvaluationEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'planned':
        progress.note(event.summary);
        break;
      case 'measuring':
        progress.step('measuring', event.done, event.total, event.label);
        break;
      case 'note':
        if (event.level === 'warning') progress.warn(`warning: ${event.message}`);
        else progress.note(event.message);
        break;
      case 'estimate':
      case 'done':
        break;
    }
  };
}
