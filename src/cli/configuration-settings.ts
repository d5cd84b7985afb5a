import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { THREADS_VARIABLE, threadsSchema } from '../base/default-threads.js';
import { checkedYamlFile } from '../manifest/validate.js';
import { isTraceUrlTemplate, TRACE_URL_TEMPLATE, TRACE_URL_VARIABLE } from '../tracing/trace-url.js';

const configurationSchema = z.strictObject({
  /** As for --store; a path is relative to the file's folder. */
  store: z.string().min(1).optional(),
  server: z.string().min(1).optional(),
  /** As for --token-file; relative to the file's folder. */
  token_file: z.string().min(1).optional(),
  threads: threadsSchema.optional(),
  trace_url_template: z.string().refine(isTraceUrlTemplate, { error: TRACE_URL_TEMPLATE }).optional(),
});

/** A scheme of more than one letter, as in mongodb: or memory:. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** All of its lines are empty or comments. */
function hasNoKeys(bytes: Uint8Array): boolean {
  const lines = new TextDecoder().decode(bytes).split('\n');
  return lines.every((line) => /^\s*(#|$)/.test(line));
}

/** As environment variables. @throws PlatformError `manifest` with the place of the problem in the file */
export function settingsIn(path: string, bytes: Uint8Array): Readonly<Record<string, string | undefined>> {
  if (hasNoKeys(bytes)) return {};
  const { data } = checkedYamlFile(path, bytes, configurationSchema);
  const { store, server, token_file: tokenFile, threads, trace_url_template: traceUrlTemplate } = data;
  const beside = (file: string): string => resolve(dirname(path), file);
  return {
    MLMODELSCOPE_STORE: store === undefined || SCHEME.test(store) ? store : beside(store),
    MLMODELSCOPE_SERVER: server,
    MLMODELSCOPE_TOKEN_FILE: tokenFile === undefined ? undefined : beside(tokenFile),
    [THREADS_VARIABLE]: threads === undefined ? undefined : String(threads),
    [TRACE_URL_VARIABLE]: traceUrlTemplate,
  };
}
