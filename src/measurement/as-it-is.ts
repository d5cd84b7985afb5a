// Apart from system.ts, whose schemas take a worker process a quarter of its start.
import type { RunOptions } from './system.js';

/** The execution provider of a processor: the default of an agent that names no other. */
export const PROCESSOR = 'cpu';

/** The graph exactly as its file has it, on one thread: for questions about the graph, not for measurements. */
export const AS_IT_IS: RunOptions = { threads: 1, executionProvider: PROCESSOR, optimizationLevel: 'disabled' };
