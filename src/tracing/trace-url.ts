import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import type { EnvironmentVariables } from './environment.js';

export const TRACE_URL_VARIABLE = 'MLMODELSCOPE_TRACE_URL_TEMPLATE';

const TRACE_ID = '{trace_id}';

export const TRACE_URL_TEMPLATE = `a URL such as http://jaeger:16686/api/traces/${TRACE_ID}?raw=true`;

export function isTraceUrlTemplate(text: string): boolean {
  return text.includes(TRACE_ID) && /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** @throws PlatformError `usage` for an invalid template */
export function readTraceUrlTemplate(environment: EnvironmentVariables): string | undefined {
  const text = ownValue(environment, TRACE_URL_VARIABLE);
  if (text === undefined || text === '') return undefined;
  if (isTraceUrlTemplate(text)) return text;
  throw new PlatformError('usage', `${TRACE_URL_VARIABLE}: expected ${TRACE_URL_TEMPLATE}`);
}

export function traceUrl(template: string, traceId: string): string {
  return template.replaceAll(TRACE_ID, traceId);
}
