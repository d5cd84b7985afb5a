import { oneLine } from '../base/one-line.js';
import type { EvaluationEvent, PlatformEvent } from './event.js';
import type { Progress } from './plugin.js';

export function stepOf({ step = 'measuring' }: Extract<PlatformEvent, { readonly kind: 'measuring' }>): string {
  return oneLine(step);
}

export function showEvent(event: EvaluationEvent | PlatformEvent, progress: Progress): void {
  switch (event.kind) {
    case 'waiting':
      progress.note(`waiting: ${event.reason}`);
      break;
    case 'started': {
      const attempt = event.attempt > 1 ? `, attempt ${event.attempt}` : '';
      const agents = event.agent.includes(',') ? 'agents' : 'agent';
      progress.note(`${event.plugin} ${event.pluginVersion} on the ${agents} at ${event.agent}${attempt}`);
      break;
    }
    case 'planned':
      progress.note(event.summary);
      break;
    case 'measuring':
      progress.step(stepOf(event), event.done, event.total, event.label, event.secondsLeft ?? null);
      break;
    case 'note':
      if (event.level === 'warning') progress.warn(`warning: ${event.message}`);
      else progress.note(`note: ${event.message}`);
      break;
    default:
      break;
  }
}
