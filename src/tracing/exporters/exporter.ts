import type { SpanDocument } from '../span-document.js';

/** Writes a trace in the form that some other tool reads. */
export type TraceExporter = (spans: readonly SpanDocument[]) => unknown;
