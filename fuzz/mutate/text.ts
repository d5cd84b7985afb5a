import type { Random } from '../random.js';
import { hostileCount, hostileName, hostileNumber } from './hostile-values.js';

/** Approximate maximum length of a text, in characters. */
const MAX_LENGTH = 400_000;

/** Signs with a meaning in CSV, JSON or YAML; repeated, they open levels that nothing closes. */
const SIGNS = [
  '"',
  "'",
  '\n',
  '\r\n',
  ',',
  '[',
  '{',
  ']',
  '}',
  '- ',
  '? ',
  ': ',
  '&a ',
  '*a ',
  '!!x ',
  '<<: *a\n',
  '|\n',
  '\t',
  '\\',
  '#',
  '\ufeff',
  '---\n',
  '  ',
];

type Mutation = (text: string, random: Random) => string;

function lines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

const removeLine: Mutation = (text, random) => {
  const all = lines(text);
  all.splice(random.below(all.length), 1);
  return all.join('');
};

const repeatLine: Mutation = (text, random) => {
  const all = lines(text);
  const index = random.below(all.length);
  const line = all[index] ?? '';
  const most = Math.max(2, Math.floor(MAX_LENGTH / (line.length + 1)));
  all.splice(index, 0, line.repeat(hostileCount(random, most)));
  return all.join('');
};

const swapLines: Mutation = (text, random) => {
  const all = lines(text);
  const a = random.below(all.length);
  const b = random.below(all.length);
  [all[a], all[b]] = [all[b] ?? '', all[a] ?? ''];
  return all.join('');
};

const indentLine: Mutation = (text, random) => {
  const all = lines(text);
  const index = random.below(all.length);
  all[index] = ' '.repeat(1 + random.below(6)) + (all[index] ?? '');
  return all.join('');
};

const insertSigns: Mutation = (text, random) => {
  const at = random.below(text.length + 1);
  const sign = random.pick(SIGNS);
  const count = random.oneIn(2) ? 1 : hostileCount(random, Math.floor(MAX_LENGTH / sign.length));
  return text.slice(0, at) + sign.repeat(count) + text.slice(at);
};

/** Replaces a word or number. */
const replaceWord: Mutation = (text, random) => {
  const words = [...text.matchAll(/[\w.+-]+/g)];
  const word = words[random.below(words.length)];
  if (word === undefined) return text;
  const other = random.oneIn(2) ? hostileName(random) : hostileNumber(random);
  return text.slice(0, word.index) + other + text.slice(word.index + word[0].length);
};

const MUTATIONS: readonly Mutation[] = [
  removeLine,
  repeatLine,
  swapLines,
  indentLine,
  insertSigns,
  insertSigns,
  replaceWord,
  replaceWord,
];

/** A text with one change of its lines, words or signs. */
export function mutateText(text: string, random: Random): string {
  return random.pick(MUTATIONS)(text, random);
}
