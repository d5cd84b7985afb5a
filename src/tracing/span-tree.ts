import { counted } from '../base/counted.js';
import { ownValue } from '../base/own-value.js';
import { byStart, spanDurationMs, type SpanDocument } from './span-document.js';
import { groupedBy } from '../base/grouped-by.js';

export interface SpanNode {
  readonly span: SpanDocument;
  readonly children: readonly SpanNode[];
}

export interface SpanTree {
  /** A complete trace has one root. */
  readonly roots: readonly SpanNode[];
  /** Spans whose parent is missing, with their descendants. */
  readonly orphans: readonly SpanNode[];
}

export function spanTree(spans: readonly SpanDocument[]): SpanTree {
  const children = groupedBy([...spans].sort(byStart), ({ parent_span_id }) => parent_span_id);
  const nodeOf = (span: SpanDocument): SpanNode => {
    return { span, children: (children.get(span.span_id) ?? []).map(nodeOf) };
  };
  const known = new Set(spans.map(({ span_id }) => span_id));
  const orphans = [...children].flatMap(([parent, found]) => (parent === '' || known.has(parent) ? [] : found));
  return { roots: (children.get('') ?? []).map(nodeOf), orphans: orphans.map(nodeOf) };
}

/** The most consecutive spans of one name that are shown, unless only one more follows. */
const SHOWN_OF_A_NAME = 3;

export interface SpanLine {
  readonly span: SpanDocument;
  readonly depth: number;
}

/** Each span before the spans that it contains; those without their parents last. */
export function spanLines({ roots, orphans }: SpanTree): readonly SpanLine[] {
  const linesIn = (nodes: readonly SpanNode[], depth: number): readonly SpanLine[] =>
    nodes.flatMap(({ span, children }) => [{ span, depth }, ...linesIn(children, depth + 1)]);
  return linesIn([...roots, ...orphans], 0);
}

function serviceOf({ resource }: SpanDocument): string {
  return `${String(resource['service.name'] ?? '')} ${String(resource['process.pid'] ?? '')}`.trim();
}

const TOLD = ['op_name', 'shape', 'model_name', 'evaluation_trace_level', 'rpc.response.status_code'];

const SHOWN_DIGITS = 12;

function briefly(attributes: SpanDocument['attributes']): string | undefined {
  const signature = ownValue(attributes, 'signature');
  const signatures = ownValue(attributes, 'signatures');
  if (Array.isArray(signatures)) return counted(signatures.length, 'brick');
  if (typeof signature !== 'string' || ownValue(attributes, 'model_name') !== undefined) return undefined;
  return signature.slice(0, SHOWN_DIGITS);
}

function formatLine({ span }: SpanNode, parent: SpanNode | undefined): string {
  const { attributes } = span;
  const told = TOLD.map((name) => ownValue(attributes, name)).filter((value) => value !== undefined);
  const bricks = briefly(attributes);
  const service = serviceOf(span);
  const parts = [
    `${spanDurationMs(span).toFixed(3)} ms`,
    span.name,
    ...told.map(String),
    ...(bricks === undefined ? [] : [bricks]),
    ...(parent !== undefined && serviceOf(parent.span) === service ? [] : [`(${service})`]),
    ...(span.status === 'error' ? [`failed: ${span.status_message}`] : []),
  ];
  return parts.join('  ');
}

function* formatLines(nodes: readonly SpanNode[], depth: number, parent: SpanNode | undefined): Generator<string> {
  const indent = '  '.repeat(depth);
  for (let i = 0; i < nodes.length;) {
    const name = nodes[i]?.span.name;
    let end = i;
    while (end < nodes.length && nodes[end]?.span.name === name) end++;
    const row = nodes.slice(i, end);
    const shown = row.length > SHOWN_OF_A_NAME + 1 ? SHOWN_OF_A_NAME : row.length;
    for (const node of row.slice(0, shown)) {
      yield `${indent}${formatLine(node, parent)}`;
      yield* formatLines(node.children, depth + 1, node);
    }
    const rest = row.slice(shown);
    const restMs = rest.reduce((sum, { span }) => sum + spanDurationMs(span), 0);
    if (rest.length > 0) yield `${indent}${restMs.toFixed(3)} ms  ${rest.length} more of ${name}`;
    i = end;
  }
}

export function treeLines({ roots, orphans }: SpanTree): readonly string[] {
  const lines = [...formatLines(roots, 0, undefined)];
  if (orphans.length === 0) return lines;
  return [...lines, `spans whose parent is not in the store:`, ...formatLines(orphans, 1, undefined)];
}
