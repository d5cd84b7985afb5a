import {
  boolCoreTag,
  type Event,
  EVENT_ID,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  NOT_RESOLVED,
  nullCoreTag,
  SCALAR_STYLE,
  type ScalarEvent,
} from 'js-yaml';

export type Scalar = string | number | boolean | null;

function plainValue(text: string): Scalar {
  for (const tag of [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag]) {
    const value = tag.resolve(text, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return text;
}

export function textAndValue(source: string, event: ScalarEvent): { readonly text: string; readonly value: Scalar } {
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
export function findStart(source: string, event: Event | undefined): number | undefined {
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
