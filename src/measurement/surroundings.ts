import { z } from 'zod';

/** A text of a table or a message, from an agent that may be hostile. */
export const line = z
  .string()
  .max(300)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'not a line');

/** Environment variables that change timings. Others stay with the agent: they may be secrets. */
export const TIMING_VARIABLES = [
  ...['OMP_NUM_THREADS', 'OMP_WAIT_POLICY', 'OMP_PROC_BIND', 'OMP_PLACES', 'GOMP_CPU_AFFINITY'],
  ...['KMP_AFFINITY', 'KMP_BLOCKTIME', 'MKL_NUM_THREADS', 'OPENBLAS_NUM_THREADS'],
  ...['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_', 'UV_THREADPOOL_SIZE', 'NODE_OPTIONS'],
] as const;

/**
 * Facts of a stack, and of what is around it, that name the software whose time is measured. The kernel and the container
 * are not among them: machines of one fleet differ in them.
 */
export const SOFTWARE_FACTS: ReadonlySet<string> = new Set(
  'framework framework_version node libc environment'.split(' '),
);

/** What an agent's process runs in: descriptive facts, which no measurement's key depends on. null: not known. */
export const surroundingsSchema = z.strictObject({
  node: line.nullable().default(null).describe('Version of Node'),
  libc: line.nullable().default(null).describe('C library with its version'),
  kernel: line.nullable().default(null).describe("Release of the operating system's kernel"),
  container: line.nullable().default(null).describe('Kind of the container, with its image where that is known'),
  // Without a default, because a log of an earlier version has to keep its checksum.
  decoder: line.nullable().optional().describe('Library that decodes pictures, with its version'),
  environment: z
    .partialRecord(z.enum(TIMING_VARIABLES), line)
    .nullable()
    .default(null)
    .describe('Environment variables that change timings, as far as they are set'),
});

export type Surroundings = Readonly<z.infer<typeof surroundingsSchema>>;
