import type { Random } from '../random.js';
import { hostileCount, hostileName, hostileNumber } from './hostile-values.js';
import { type Grammar, mutateTree } from './tree.js';

/** A JSON document as its text has it: a key may occur twice, and a value may be any text. */
type Document =
  | { readonly kind: 'object'; readonly entries: readonly Document[] }
  | { readonly kind: 'entry'; readonly key: string; readonly values: readonly Document[] }
  | { readonly kind: 'array'; readonly items: readonly Document[] }
  | { readonly kind: 'text'; readonly text: string };

function documentOf(value: unknown): Document {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(documentOf) };
  if (typeof value !== 'object' || value === null) return { kind: 'text', text: JSON.stringify(value) };
  const entries = Object.entries(value).map(([key, one]): Document => {
    return { kind: 'entry', key, values: [documentOf(one)] };
  });
  return { kind: 'object', entries };
}

function textOf(document: Document): string {
  switch (document.kind) {
    case 'object':
      return `{${document.entries.map(entryText).join()}}`;
    case 'array':
      return `[${document.items.map(textOf).join()}]`;
    case 'entry':
      return `{${entryText(document)}}`;
    case 'text':
      return document.text;
  }
}

function entryText(document: Document): string {
  if (document.kind !== 'entry') return `"":${textOf(document)}`;
  const [value, ...others] = document.values;
  const text =
    value === undefined
      ? 'null'
      : others.length === 0
        ? textOf(value)
        : textOf({ kind: 'array', items: document.values });
  return `${JSON.stringify(document.key)}:${text}`;
}

function hostileText(random: Random): string {
  switch (random.below(8)) {
    case 0:
      return random.pick(['null', 'true', '{}', '[]', '""', '[{}]']);
    case 1:
      return '['.repeat(hostileCount(random, 20_000));
    case 2:
      return '"'.repeat(1 + 2 * random.below(3));
    case 3:
      return `[${new Array<string>(hostileCount(random, 20_000)).fill(hostileNumber(random)).join()}]`;
    case 4:
    case 5:
      return JSON.stringify(hostileName(random));
    default:
      return hostileNumber(random);
  }
}

const GRAMMAR: Grammar<Document> = {
  parts(document) {
    switch (document.kind) {
      case 'object':
        return document.entries;
      case 'entry':
        return document.values;
      case 'array':
        return document.items;
      case 'text':
        return [];
    }
  },
  withParts(document, parts) {
    switch (document.kind) {
      case 'object':
        return { kind: 'object', entries: parts };
      case 'entry':
        return { ...document, values: parts };
      case 'array':
        return { kind: 'array', items: parts };
      case 'text':
        return document;
    }
  },
  kind: ({ kind }) => kind,
  hostile(document, random) {
    return document.kind === 'entry'
      ? { ...document, key: hostileName(random) }
      : { kind: 'text', text: hostileText(random) };
  },
};

/** A JSON text with one change of its structure; undefined for invalid JSON. */
export function mutateJson(text: string, random: Random): string | undefined {
  try {
    return mutateValue(JSON.parse(text), random);
  } catch {
    return undefined;
  }
}

/** A value of JSON with one change of its structure, as text that may no longer be JSON. */
export function mutateValue(value: unknown, random: Random): string {
  return textOf(mutateTree(documentOf(value), GRAMMAR, random));
}
