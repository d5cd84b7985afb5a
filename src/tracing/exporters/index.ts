import type { Exporter } from '../../base/exporters/exporter.js';
import type { SpanDocument } from '../span-document.js';
import { chrome } from './chrome.js';
import { jaeger } from './jaeger.js';
import { otlp } from './otlp.js';

export const SPAN_EXPORTERS = { jaeger, otlp, chrome } as const satisfies Record<
  string,
  Exporter<readonly SpanDocument[]>
>;

export type SpanFormat = keyof typeof SPAN_EXPORTERS;
