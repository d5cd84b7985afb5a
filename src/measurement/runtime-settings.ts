import { z } from 'zod';
import { combine } from '../base/combinations.js';
import { counted } from '../base/counted.js';
import { threadsSchema } from '../base/default-threads.js';
import { sessionEntry } from './session-entry.js';

export const OPTIMIZATION_LEVELS = ['disabled', 'basic', 'extended', 'layout', 'all'] as const;

export const EXECUTION_MODES = ['sequential', 'parallel'] as const;

/** A key of a session that a manifest may set. Text of a manifest is always a string to the runtime. */
interface SessionKey {
  readonly value: z.ZodType<string, string | number>;
  readonly description: string;
  /** Part of the runtime that it concerns: its graph optimizer, its schedule of a graph's kernels, or the kernels. */
  readonly of: 'optimizer' | 'schedule' | 'kernels';
}

function key(of: SessionKey['of'], value: SessionKey['value'], description: string): SessionKey {
  return { value, description, of };
}

const onOff = z.union([z.literal(['0', '1']), z.literal([0, 1])], { error: '0 or 1' }).transform(String);

function matching(pattern: RegExp, expected: string): SessionKey['value'] {
  const error = `${expected}, of at most 1000 characters`;
  return z.union([z.string().max(1000, { error }).regex(pattern, { error }), z.int()], { error }).transform(String);
}

/** Keys of ONNX Runtime's onnxruntime_session_options_config_keys.h, and the options of a session that are switches. */
const SESSION = {
  'optimization.disable_specified_optimizers': key(
    'optimizer',
    matching(/^\w+(;\w+)*$/, 'names of optimizers with ; between them'),
    'Optimizers that are left out, by the names of the runtime.',
  ),
  'session.disable_prepacking': key('kernels', onOff, '1: kernels read weights as they are in the file.'),
  'session.intra_op.allow_spinning': key('kernels', onOff, '0: the threads of a kernel sleep while they wait.'),
  'session.inter_op.allow_spinning': key(
    'schedule',
    onOff,
    '0: the threads for several kernels sleep while they wait.',
  ),
  'session.set_denormal_as_zero': key('kernels', onOff, '1: denormal numbers count as zero.'),
  'session.dynamic_block_base': key(
    'kernels',
    matching(/^\d{1,6}$/, 'a whole number'),
    'Blocks into which a thread divides its part of a loop, so that others can take some.',
  ),
  'session.intra_op_thread_affinities': key(
    'kernels',
    matching(/^[\d,;-]+$/, 'processors of each thread, as in 1;2,3;4-6'),
    'Processors of each thread of a kernel besides the first, counted from 1.',
  ),
  'session.qdqisint8allowed': key('optimizer', onOff, '1: the optimizer fuses quantized operators of int8.'),
  'mlas.enable_gemm_fastmath_arm64_bfloat16': key(
    'kernels',
    onOff,
    '1: matrix products of float32 are computed in bfloat16.',
  ),
  enableCpuMemArena: key('kernels', onOff, '0: each value gets its memory from the operating system.'),
  enableMemPattern: key('schedule', onOff, '0: a run gets the memory of its values piece by piece.'),
} as const satisfies Readonly<Record<string, SessionKey>>;

type SessionKeyName = keyof typeof SESSION;

export const SESSION_KEYS = Object.keys(SESSION) as SessionKeyName[];

/** The allowed keys of a session; the runtime itself takes any key in silence. */
export const sessionSchema = z.strictObject(
  Object.fromEntries(
    SESSION_KEYS.map((key) => [key, SESSION[key].value.describe(SESSION[key].description).optional()]),
  ) as Record<SessionKeyName, z.ZodOptional<SessionKey['value']>>,
);

export type SessionSettings = Readonly<Partial<Record<SessionKeyName, string | undefined>>>;

/** Why a session takes no such key or value; undefined where it does. */
export function sessionProblem(name: string, value: string): string | undefined {
  const known = SESSION_KEYS.find((one) => one === name);
  if (known === undefined) return `unknown key ${name}; known keys: ${SESSION_KEYS.join(', ')}`;
  const { error } = SESSION[known].value.safeParse(value);
  return error && `${name}: expected ${error.issues[0]?.message ?? ''}`;
}

/** The keys of a session as run options have them: KEY=VALUE, each key once, sorted. */
export const sessionEntriesSchema = z
  .array(
    z.string().superRefine((text, context) => {
      const entry = sessionEntry(text);
      const problem = entry === undefined ? 'expected KEY=VALUE' : sessionProblem(...entry);
      if (problem !== undefined) context.addIssue(problem);
    }),
  )
  .refine(
    (entries) => new Set(entries.map((entry) => sessionEntry(entry)?.[0])).size === entries.length,
    'a key twice',
  );

/** The same for settings. */
export function listSessionEntries(session: SessionSettings | readonly string[]): readonly string[] {
  if (session instanceof Array) return session;
  return Object.entries(session)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
    .sort();
}

export function filterSessionEntries(part: SessionKey['of'], entries: readonly string[]): readonly string[] {
  return entries.filter((entry) =>
    SESSION_KEYS.some((name) => entry.startsWith(`${name}=`) && SESSION[name].of === part),
  );
}

interface StatedSettings extends Pick<RuntimeSettings, 'execution_mode' | 'inter_op_threads'> {
  readonly optimization_level: string;
  readonly session: SessionSettings | readonly string[];
}

/** Those that are not the default, in words: "optimizer basic, 2 kernels at a time". */
export function runtimeText(settings: StatedSettings): string {
  const { optimization_level: level, execution_mode: mode, inter_op_threads: atATime, session } = settings;
  const parts = [
    level === DEFAULT_RUNTIME.optimization_level ? '' : optimizerText(level),
    mode === 'sequential' ? '' : `${counted(atATime, 'kernel')} at a time`,
    ...listSessionEntries(session),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function optimizerText(level: string): string {
  return level === 'disabled' ? 'optimizer off' : `optimizer ${level}`;
}

/** Notes on settings that have no effect beside the others, whatever the model. */
export function idleSettings({ execution_mode: mode, inter_op_threads: atATime }: RuntimeSettings): readonly string[] {
  if (mode === 'sequential' && atATime > 1) {
    return [`inter_op_threads ${atATime} changes nothing: only execution_mode parallel runs kernels at the same time`];
  }
  if (mode === 'sequential' || atATime > 1) return [];
  return ['execution_mode parallel changes nothing: inter_op_threads is 1, so kernels run one after another'];
}

/** The settings of a runtime beside threads, as evaluations have them in `settings`. Options of commands follow. */
export const runtimeSettings = {
  optimization_level: z
    .enum(OPTIMIZATION_LEVELS)
    .default('all')
    .describe("Which optimizations of graphs the runtime makes: 'layout' adds to 'extended', and this to 'basic'."),
  execution_mode: z
    .enum(EXECUTION_MODES)
    .default('sequential')
    .describe('Whether kernels run one after another, or those that do not depend on each other at the same time.'),
  inter_op_threads: threadsSchema
    .default(1)
    .describe('Kernels that run at the same time at most, in execution mode parallel.'),
  session: sessionSchema.default({}).describe("Further keys of the runtime's session."),
};

const runtimeSettingsSchema = z.strictObject(runtimeSettings);

export type RuntimeSettings = Readonly<z.output<typeof runtimeSettingsSchema>>;

export const DEFAULT_RUNTIME: RuntimeSettings = runtimeSettingsSchema.parse({});

/** Several values of these settings; undefined where there is one, that of the manifest or the default. */
export interface RuntimeAxes {
  readonly optimizationLevel?: readonly RuntimeSettings['optimization_level'][] | undefined;
  readonly executionMode?: readonly RuntimeSettings['execution_mode'][] | undefined;
  readonly interOpThreads?: readonly number[] | undefined;
  /** Values by the keys of a session. */
  readonly session?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** Each combination of the settings. @param byDefault those that are no axis */
export function combineRuntimes(
  axes: RuntimeAxes,
  byDefault: RuntimeSettings = DEFAULT_RUNTIME,
): readonly RuntimeSettings[] {
  const { optimizationLevel: levels, executionMode: modes, interOpThreads: numbers, session: keys } = axes;
  return (levels ?? [byDefault.optimization_level]).flatMap((optimization_level) =>
    (modes ?? [byDefault.execution_mode]).flatMap((execution_mode) =>
      (numbers ?? [byDefault.inter_op_threads]).flatMap((inter_op_threads) =>
        combine(keys).map((values) => {
          const session = { ...byDefault.session, ...Object.fromEntries(values) };
          return { optimization_level, execution_mode, inter_op_threads, session };
        }),
      ),
    ),
  );
}
