import { CORE_SCHEMA, EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';
import type { Event, ScalarEvent } from 'js-yaml';
import { messageOf } from '../base/errors.js';
import { printable, quote } from './quote.js';

/** A value of a YAML document with the offset in the source where it starts. */
export type YamlNode =
  | { readonly kind: 'scalar'; readonly start: number; readonly text: string; readonly value: Scalar }
  | { readonly kind: 'sequence'; readonly start: number; readonly items: readonly YamlNode[] }
  | { readonly kind: 'mapping'; readonly start: number; readonly entries: ReadonlyMap<string, YamlEntry> }
  /** Stands where the source has something that manifests may not have; there is a fault for it. */
  | { readonly kind: 'refused'; readonly start: number };

export type Scalar = string | number | boolean | null;

export interface YamlEntry {
  readonly keyStart: number;
  readonly value: YamlNode;
}

/** Something wrong with the YAML itself. */
export interface YamlFault {
  readonly offset: number;
  readonly path: YamlPath;
  readonly expected: string;
  readonly found: string;
}

export type YamlPath = readonly (string | number)[];

/** The document as far as it could be understood; `root` is undefined where the syntax is wrong. */
export interface YamlTree {
  readonly root: YamlNode | undefined;
  readonly faults: readonly YamlFault[];
}

const MAX_DEPTH = 32;
/** Parser events are scalars, and starts and ends of collections. */
const MAX_EVENTS = 10_000;

class TreeBuilder {
  readonly faults: YamlFault[] = [];
  private next = 0;

  constructor(
    private readonly source: string,
    private readonly events: readonly Event[],
  ) {}

  /** Builds the value at the next event. `fallbackStart` is where an empty value, which is nowhere, is said to be. */
  build(path: YamlPath, fallbackStart: number): YamlNode {
    const event = this.take();
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const start = scalarStart(this.source, event) ?? fallbackStart;
        if (event.tagStart >= 0) return this.refuseTag(event.tagStart, event.tagEnd, path);
        const text = getScalarValue(this.source, event);
        const value = event.style === SCALAR_STYLE.PLAIN ? plainValue(text) : text;
        return { kind: 'scalar', start, text, value };
      }
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = [];
        while (!this.atEnd()) items.push(this.build([...path, items.length], event.start));
        if (event.tagStart >= 0) return this.refuseTag(event.tagStart, event.tagEnd, path);
        return { kind: 'sequence', start: event.start, items };
      }
      case EVENT_ID.MAPPING: {
        const entries = this.buildEntries(path, event.start);
        if (event.tagStart >= 0) return this.refuseTag(event.tagStart, event.tagEnd, path);
        return { kind: 'mapping', start: event.start, entries };
      }
      case EVENT_ID.ALIAS: {
        const start = event.anchorStart - 1;
        const alias = this.source.slice(start, event.anchorEnd);
        return this.refuse(start, path, 'a value written out', `the alias ${quote(alias)}`);
      }
      default:
        throw new Error(`unexpected YAML event ${event.type}`);
    }
  }

  private buildEntries(path: YamlPath, start: number): Map<string, YamlEntry> {
    const entries = new Map<string, YamlEntry>();
    while (!this.atEnd()) {
      const key = this.build(path, start);
      if (key.kind !== 'scalar') {
        if (key.kind !== 'refused') this.refuse(key.start, path, 'a text as key', `a ${key.kind}`);
        this.build(path, key.start);
        continue;
      }
      const value = this.build([...path, key.text], key.start);
      if (entries.has(key.text)) {
        this.refuse(key.start, [...path, key.text], 'every key once', `${quote(key.text)} again`);
      } else {
        entries.set(key.text, { keyStart: key.start, value });
      }
    }
    return entries;
  }

  private take(): Event {
    const event = this.events[this.next++];
    if (event === undefined) throw new Error('YAML events end early');
    return event;
  }

  /** Whether the open collection ends here; steps over its end. */
  private atEnd(): boolean {
    if (this.events[this.next]?.type !== EVENT_ID.POP) return false;
    this.next++;
    return true;
  }

  private refuseTag(start: number, end: number, path: YamlPath): YamlNode {
    return this.refuse(start, path, 'a value without a tag', `the tag ${quote(this.source.slice(start, end))}`);
  }

  private refuse(offset: number, path: YamlPath, expected: string, found: string): YamlNode {
    this.faults.push({ offset, path, expected, found });
    return { kind: 'refused', start: offset };
  }
}

/** YAML 1.2's core schema: what an unquoted text stands for. */
function plainValue(text: string): Scalar {
  const { value } = CORE_SCHEMA.resolveImplicitScalarTag(text);
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : text;
}

/** Where the `|` or `>` is that announces the block of text starting here. */
function blockIndicator(source: string, contentStart: number): number {
  const lineStart = source.lastIndexOf('\n', contentStart - 2) + 1;
  const line = source.slice(lineStart, contentStart).trimEnd();
  const indicator = line.search(/[|>][-+\d]*[ \t]*(?:[ \t]#.*)?$/);
  return indicator < 0 ? contentStart : lineStart + indicator;
}

/** Where a scalar starts as its author sees it, quotes and block indicators included; undefined for an empty one. */
function scalarStart(source: string, event: ScalarEvent): number | undefined {
  if (event.valueStart < 0) return undefined;
  switch (event.style) {
    case SCALAR_STYLE.SINGLE_QUOTED:
    case SCALAR_STYLE.DOUBLE_QUOTED:
      return event.valueStart - 1;
    case SCALAR_STYLE.LITERAL_BLOCK:
    case SCALAR_STYLE.FOLDED_BLOCK:
      return blockIndicator(source, event.valueStart);
    default:
      return event.valueStart;
  }
}

function eventStart(source: string, event: Event | undefined): number | undefined {
  if (event?.type === EVENT_ID.SCALAR) return scalarStart(source, event);
  return event?.type === EVENT_ID.SEQUENCE || event?.type === EVENT_ID.MAPPING ? event.start : undefined;
}

function failed(offset: number, expected: string, found: string): YamlTree {
  return { root: undefined, faults: [{ offset, path: [], expected, found }] };
}

/**
 * One YAML document as a tree. Only plain data is understood: aliases, tags, keys other than texts, repeated keys and
 * further documents are faults, so that no input can grow, run or refer to itself. Never throws.
 */
export function parseYaml(source: string): YamlTree {
  let events: readonly Event[];
  try {
    events = parseEvents(source, { maxDepth: MAX_DEPTH });
  } catch (thrown) {
    const syntaxError = thrown instanceof YAMLException ? thrown : undefined;
    const reason = printable((syntaxError?.reason ?? messageOf(thrown)).slice(0, 200));
    const deep = /maxDepth/.test(reason);
    const expected = deep ? `values nested at most ${MAX_DEPTH} deep` : 'valid YAML';
    return failed(syntaxError?.mark?.position ?? 0, expected, deep ? 'deeper ones' : `a syntax error: ${reason}`);
  }
  if (events.length > MAX_EVENTS) {
    return failed(eventStart(source, events[MAX_EVENTS]) ?? 0, `at most ${MAX_EVENTS} values`, 'more');
  }
  const documents = events.filter((event) => event.type === EVENT_ID.DOCUMENT);
  if (documents.length === 0) return failed(0, 'a mapping', 'an empty file');
  const builder = new TreeBuilder(source, events.slice(1));
  const root = builder.build([], 0);
  const { faults } = builder;
  if (documents.length > 1) {
    const offset = secondDocumentOffset(source, events);
    faults.push({ offset, path: [], expected: 'one document in the file', found: `${documents.length} documents` });
  }
  return { root, faults };
}

function secondDocumentOffset(source: string, events: readonly Event[]): number {
  const second = events.findIndex((event, i) => i > 0 && event.type === EVENT_ID.DOCUMENT);
  return eventStart(source, events[second + 1]) ?? source.length;
}
