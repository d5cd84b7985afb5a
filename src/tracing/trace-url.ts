import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import type { EnvironmentVariables } from './environment.js';

/** The environment variable with the default template of the addresses of traces. */
export const TRACE_URL_VARIABLE = 'MLMODELSCOPE_TRACE_URL_TEMPLATE';

/** Stands for a trace's id, 32 hexadecimal digits. */
const TRACE_ID = '{trace_id}';

/** The expected form of a template, for messages. */
export const TRACE_URL_TEMPLATE = `a URL such as http://jaeger:16686/api/traces/${TRACE_ID}?raw=true`;

/** Whether a text is a template of the addresses at which a tracing server returns traces as Jaeger's JSON. */
export function isTraceUrlTemplate(text: string): boolean {
  return text.includes(TRACE_ID) && /^https?:\/\/\S+$/i.test(text) && URL.canParse(text);
}

/** The template in the environment. @throws PlatformError `usage` for an invalid template */
export function traceUrlTemplateOf(environment: EnvironmentVariables): string | undefined {
  const text = ownValue(environment, TRACE_URL_VARIABLE);
  if (text === undefined || text === '') return undefined;
  if (isTraceUrlTemplate(text)) return text;
  throw new PlatformError('usage', `${TRACE_URL_VARIABLE}: expected ${TRACE_URL_TEMPLATE}`);
}

/** The address of a trace. */
export function traceUrl(template: string, traceId: string): string {
  return template.replaceAll(TRACE_ID, traceId);
}
