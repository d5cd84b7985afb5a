import envPaths from 'env-paths';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';
import { THREADS_VARIABLE, threadsSchema } from '../base/default-threads.js';
import { parseDocument } from '../manifest/document.js';
import { manifestError } from '../manifest/index.js';
import { readManifestBytes } from '../manifest/read-file.js';
import { validate } from '../manifest/validate.js';
import { isTraceUrlTemplate, TRACE_URL_TEMPLATE, TRACE_URL_VARIABLE } from '../tracing/trace-url.js';

/** Names another configuration file. */
const FILE_VARIABLE = 'MLMODELSCOPE_CONFIG';

/** What a user sets once instead of with every command. */
const configurationSchema = z.strictObject({
  /** As for --store; a path is relative to the file's folder. */
  store: z.string().min(1).optional(),
  /** HOST:PORT of the platform's server. */
  server: z.string().min(1).optional(),
  /** As for --token-file; relative to the file's folder. */
  token_file: z.string().min(1).optional(),
  /** As for --threads. */
  threads: threadsSchema.optional(),
  /** As for --trace-url-template. */
  trace_url_template: z.string().refine(isTraceUrlTemplate, { error: TRACE_URL_TEMPLATE }).optional(),
});

/** A scheme of more than one letter, as in mongodb: or memory:. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** Where the configuration is: MLMODELSCOPE_CONFIG, else `config.yml` in the user's folder for that. */
export function configurationFile(environment: Readonly<NodeJS.ProcessEnv>): string {
  const chosen = environment[FILE_VARIABLE];
  if (chosen !== undefined && chosen !== '') return resolve(chosen);
  return join(envPaths('mlmodelscope', { suffix: '' }).config, 'config.yml');
}

/**
 * Reads the configuration file and puts what it says into the environment, where nothing is set yet: so options win over
 * the environment, and that over the file, in this process and in those that it starts.
 *
 * @throws PlatformError `manifest` with the place of what is wrong in the file, `usage` where a file that is named is not
 *   there
 */
export async function applyConfiguration(environment: NodeJS.ProcessEnv): Promise<void> {
  const path = configurationFile(environment);
  const file = await readManifestBytes(path);
  if (!file.ok) {
    if (file.found === 'no such file' && !environment[FILE_VARIABLE]) return;
    throw new PlatformError('usage', `${path}: expected a configuration file, found ${file.found}`);
  }
  const document = parseDocument(path, file.bytes);
  if (!document.ok) throw manifestError(document.problems);
  const result = validate(document, configurationSchema, 'value');
  if (!result.ok) throw manifestError(result.problems);
  const { store, server, token_file: tokenFile, threads, trace_url_template: traceUrlTemplate } = result.data;
  const beside = (place: string): string => resolve(dirname(path), place);
  const settings = {
    MLMODELSCOPE_STORE: store === undefined || SCHEME.test(store) ? store : beside(store),
    MLMODELSCOPE_SERVER: server,
    MLMODELSCOPE_TOKEN_FILE: tokenFile === undefined ? undefined : beside(tokenFile),
    [THREADS_VARIABLE]: threads === undefined ? undefined : String(threads),
    [TRACE_URL_VARIABLE]: traceUrlTemplate,
  };
  const unset = Object.entries(settings).filter(([variable, value]) => {
    return value !== undefined && !ownValue(environment, variable);
  });
  Object.assign(environment, Object.fromEntries(unset));
}
