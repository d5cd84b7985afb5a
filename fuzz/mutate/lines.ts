import type { Random } from '../random.js';
import { mutateJson } from './document.js';
import { mutateText } from './text.js';

export function mutateJsonLines(text: string, random: Random): string {
  const whole = mutateJson(text, random);
  if (whole !== undefined) return whole;
  const lines = text.split('\n');
  const index = random.below(lines.length);
  const line = mutateJson(lines[index] ?? '', random);
  if (line === undefined) return mutateText(text, random);
  return lines.with(index, line).join('\n');
}
