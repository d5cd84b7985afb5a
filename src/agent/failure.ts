import { messageOf, PlatformError } from '../base/errors.js';
import type { Outcome } from '../measurement/measurement.js';
import { orOfMachine } from './machine-failure.js';
import type { Framework } from '../predictor/predictor.js';

export type Failure = Readonly<Omit<Extract<Outcome, { kind: 'failure' }>, 'kind'>>;

const MESSAGE_LENGTH = 600;

/** The messages of C++, ONNX Runtime's arena and V8 where memory runs out. */
const OUT_OF_MEMORY = /bad_alloc|failed to allocate memory|allocation failed|out of memory/i;

/** The beginning of ONNX Runtime's messages about a model in a file; the file is a temporary one of the worker. */
const TEMPORARY_FILE = /^Load model from \S+ failed: ?/;

export function briefly(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim().replace(TEMPORARY_FILE, '');
  return line.length <= MESSAGE_LENGTH ? line : `${line.slice(0, MESSAGE_LENGTH)}…`;
}

/** While a model is opened, the framework refuses the graph; later, a run of the graph fails. */
export function classifyFailure(thrown: unknown, stage: 'open' | 'run'): Failure {
  const message = briefly(messageOf(thrown));
  if (OUT_OF_MEMORY.test(message)) return { reason: 'out_of_memory', message };
  return { reason: stage === 'open' ? 'unsupported' : 'run_failed', message };
}

export function buildRefusal(error: unknown, stage: 'open' | 'run'): PlatformError {
  const thrown = orOfMachine(error);
  if (thrown instanceof PlatformError) return thrown;
  const { reason, message } = classifyFailure(thrown, stage);
  const options = { cause: thrown };
  const said = message.replace(/[.\s]+$/, '');
  if (reason === 'run_failed') {
    const advice = 'Give its inputs valid values with --input NAME=VALUE, or export the model again';
    return new PlatformError('model', `the runtime could not run the graph: ${said}. ${advice}.`, options);
  }
  const text =
    reason === 'out_of_memory'
      ? `the runtime ran out of memory: ${said}. Use smaller dimensions, or a machine with more memory.`
      : `the runtime refuses the graph: ${said}. Export the model with operators, versions and types that this runtime has.`;
  return new PlatformError('unsupported', text, options);
}

/** Work that needs the model: a failure of the framework becomes the error of the request. */
export async function orRefuse<T>(stage: 'open' | 'run', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw buildRefusal(error, stage);
  }
}

export function noProfile({ name, version }: Framework): PlatformError {
  return new PlatformError('unsupported', `${name} ${version} keeps no profile of its kernels`);
}

/** Why a process was killed, by whether the kernel has ended one for lack of memory meanwhile. */
function reasonOfKill(hasKilledForMemory: boolean | undefined): string {
  if (hasKilledForMemory === false) return ' from outside (SIGKILL); the kernel has ended nothing for lack of memory';
  return `, ${hasKilledForMemory === true ? 'most likely' : 'perhaps'} because the machine ran out of memory`;
}

/**
 * The failure of a worker process that ended unexpectedly. `lastWords` is the end of its standard error.
 *
 * @param hasKilledForMemory whether the kernel has ended a process for lack of memory since it began, where known
 */
export function classifyDeath(
  exitCode: number | null,
  signal: NodeJS.Signals | null,
  lastWords: string,
  hasKilledForMemory?: boolean,
): Failure {
  const said = lastWords.trim() === '' ? '' : `: ${briefly(lastWords)}`;
  if (OUT_OF_MEMORY.test(lastWords)) {
    return { reason: 'out_of_memory', message: `the worker process ran out of memory${said}` };
  }
  if (signal === 'SIGKILL') {
    return { reason: 'crashed', message: `the worker process was killed${reasonOfKill(hasKilledForMemory)}${said}` };
  }
  const how = signal === null ? `with exit code ${exitCode}` : `by signal ${signal}`;
  return { reason: 'crashed', message: `the worker process ended ${how}${said}` };
}
