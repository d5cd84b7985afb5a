import {
  type Event,
  EVENT_ID,
  parseEvents,
  YAMLException,
  boolCoreTag,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';
import { messageOf } from '../base/errors.js';
import { escaped, quoted } from '../base/quoted.js';

type Scalar = string | number | boolean | null;

function plainValue(text: string): Scalar {
  for (const tag of [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag]) {
    const value = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}

function textAndValue(source: string, event: ScalarEvent): { readonly text: string; readonly value: Scalar } {
  const text = getScalarValue(source, event);
  return { text, value: event.style === SCALAR_STYLE.PLAIN ? plainValue(text) : text };
}

/** The offset of the `|` or `>` that announces the block at `contentStart`. */
function blockIndicator(source: string, contentStart: number): number {
  const lineStart = source.lastIndexOf('\n', contentStart - 2) + 1;
  const line = source.slice(lineStart, contentStart).trimEnd();
  const indicator = line.search(/[|>][-+\d]*[ \t]*(?:[ \t]#.*)?$/);
  return indicator < 0 ? contentStart : lineStart + indicator;
}

/** With quotes and block indicators; undefined for an empty value. */
function findStart(source: string, event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING) return event.start;
  if (event?.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event?.type !== EVENT_ID.SCALAR || event.valueStart < 0) return undefined;
  switch (event.style) {
    case SCALAR_STYLE.PLAIN:
      return event.valueStart;
    case SCALAR_STYLE.SINGLE_QUOTED:
    case SCALAR_STYLE.DOUBLE_QUOTED:
      return event.valueStart - 1;
    case SCALAR_STYLE.LITERAL_BLOCK:
    case SCALAR_STYLE.FOLDED_BLOCK:
      return blockIndicator(source, event.valueStart);
  }
}

export type YamlNode =
  | { readonly kind: 'scalar'; readonly start: number; readonly text: string; readonly value: Scalar }
  | { readonly kind: 'sequence'; readonly start: number; readonly items: readonly YamlNode[] }
  | { readonly kind: 'mapping'; readonly start: number; readonly entries: ReadonlyMap<string, YamlEntry> }
  /** A construct that manifests must not use; a fault names it. */
  | { readonly kind: 'refused'; readonly start: number };

export interface YamlEntry {
  readonly keyStart: number;
  readonly value: YamlNode;
}

export interface YamlFault {
  readonly offset: number;
  readonly path: YamlPath;
  readonly expected: string;
  readonly found: string;
  /** The tree has the last value, and mappings with the entries of all of them. */
  readonly isRepeatedKey?: true;
}

export type YamlPath = readonly (string | number)[];

export interface YamlTree {
  readonly root: YamlNode | undefined;
  readonly faults: readonly YamlFault[];
}

const MAX_DEPTH = 32;
/** Events are scalars, and starts and ends of collections. */
const MAX_EVENTS = 10_000;

/** As the original platform reads a repeated key (yaml.v2, decoding into one value). */
function merged(before: YamlNode, again: YamlNode): YamlNode {
  if (before.kind !== 'mapping' || again.kind !== 'mapping') return again;
  const entries = new Map(before.entries);
  for (const [key, entry] of again.entries) {
    const known = entries.get(key);
    entries.set(key, known === undefined ? entry : { ...entry, value: merged(known.value, entry.value) });
  }
  return { ...again, entries };
}

class TreeBuilder {
  readonly faults: YamlFault[] = [];
  /** The first event is the document's own. */
  private next = 1;

  constructor(
    private readonly source: string,
    private readonly events: readonly Event[],
  ) {}

  /** An empty value has no place of its own and takes `startAround`. */
  build(path: YamlPath, startAround: number): YamlNode {
    const event = this.events[this.next++];
    const start = findStart(this.source, event) ?? startAround;
    const node = this.parseNode(event, path, start);
    if (event === undefined || !('tagStart' in event) || event.tagStart < 0) return node;
    const tag = this.source.slice(event.tagStart, event.tagEnd);
    return this.refuse(event.tagStart, path, 'a value without a tag', `the tag ${quoted(tag)}`);
  }

  private parseNode(event: Event | undefined, path: YamlPath, start: number): YamlNode {
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return { kind: 'scalar', start, ...textAndValue(this.source, event) };
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = [];
        while (!this.atEnd()) items.push(this.build([...path, items.length], start));
        return { kind: 'sequence', start, items };
      }
      case EVENT_ID.MAPPING:
        return { kind: 'mapping', start, entries: this.buildEntries(path, start) };
      case EVENT_ID.ALIAS: {
        const alias = this.source.slice(start, event.anchorEnd);
        return this.refuse(start, path, 'a value written out', `the alias ${quoted(alias)}`);
      }
      default:
        throw new Error(`expected a YAML event that starts a value, found ${event?.type}`);
    }
  }

  private buildEntries(path: YamlPath, start: number): ReadonlyMap<string, YamlEntry> {
    const entries = new Map<string, YamlEntry>();
    while (!this.atEnd()) {
      const key = this.build(path, start);
      if (key.kind !== 'scalar') {
        if (key.kind !== 'refused') this.refuse(key.start, path, 'a text as key', `a ${key.kind}`);
        this.build(path, key.start);
        continue;
      }
      const value = this.build([...path, key.text], key.start);
      const before = entries.get(key.text);
      if (before !== undefined) {
        const found = `${quoted(key.text)} again`;
        const at = { offset: key.start, path: [...path, key.text] };
        this.faults.push({ ...at, expected: 'every key once', found, isRepeatedKey: true });
      }
      entries.set(key.text, { keyStart: key.start, value: before === undefined ? value : merged(before.value, value) });
    }
    return entries;
  }

  private atEnd(): boolean {
    if (this.events[this.next]?.type !== EVENT_ID.POP) return false;
    this.next++;
    return true;
  }

  private refuse(offset: number, path: YamlPath, expected: string, found: string): YamlNode {
    this.faults.push({ offset, path, expected, found });
    return { kind: 'refused', start: offset };
  }
}

function failed(offset: number, expected: string, found: string): YamlTree {
  return { root: undefined, faults: [{ offset, path: [], expected, found }] };
}

/**
 * Only plain data is accepted: aliases, tags, keys other than texts, repeated keys and further documents are faults, so
 * that no input can expand, run code or refer to itself. Never throws.
 */
export function parseYaml(source: string, maxEvents = MAX_EVENTS): YamlTree {
  let events: readonly Event[];
  try {
    events = parseEvents(source, { maxDepth: MAX_DEPTH });
  } catch (thrown) {
    const syntaxError = thrown instanceof YAMLException ? thrown : undefined;
    const reason = escaped((syntaxError?.reason ?? messageOf(thrown)).slice(0, 200));
    const deep = /maxDepth/.test(reason);
    const expected = deep ? `values nested at most ${MAX_DEPTH} deep` : 'valid YAML';
    return failed(syntaxError?.mark?.position ?? 0, expected, deep ? 'deeper ones' : `a syntax error: ${reason}`);
  }
  if (events.length > maxEvents) {
    return failed(findStart(source, events[maxEvents]) ?? 0, `at most ${maxEvents} keys and values`, 'more');
  }
  const documents = events.flatMap(({ type }, index) => (type === EVENT_ID.DOCUMENT ? [index] : []));
  if (documents.length === 0) return failed(0, 'a mapping', 'an empty file');
  const builder = new TreeBuilder(source, events);
  const root = builder.build([], 0);
  const { faults } = builder;
  const [, second] = documents;
  if (second !== undefined) {
    const offset = findStart(source, events[second + 1]) ?? source.length;
    faults.push({ offset, path: [], expected: 'one document in the file', found: `${documents.length} documents` });
  }
  return { root, faults };
}
