/** The names and their order are the platform's (ExecutionOptions.TraceLevel in predictor.proto). */
export const TRACE_LEVELS = [
  'NO_TRACE',
  'APPLICATION_TRACE',
  'MODEL_TRACE',
  'FRAMEWORK_TRACE',
  'ML_LIBRARY_TRACE',
  'SYSTEM_LIBRARY_TRACE',
  'HARDWARE_TRACE',
  'FULL_TRACE',
] as const;

export type TraceLevel = (typeof TRACE_LEVELS)[number];

export const MADE_LEVELS = [
  'NO_TRACE',
  'APPLICATION_TRACE',
  'MODEL_TRACE',
  'FRAMEWORK_TRACE',
  'SYSTEM_LIBRARY_TRACE',
] as const satisfies readonly TraceLevel[];

const NOT_MADE: Readonly<Partial<Record<TraceLevel, string>>> = {
  ML_LIBRARY_TRACE: 'the runtimes here compute in their own kernels, which are at FRAMEWORK_TRACE',
  HARDWARE_TRACE: 'no process reads the counters of the hardware',
  FULL_TRACE: 'no process reads the counters of the hardware',
};

/** Why a level cannot be asked for; undefined where it can. */
export function levelProblem(level: string): string | undefined {
  if (MADE_LEVELS.some((made) => made === level)) return undefined;
  const known = TRACE_LEVELS.find((one) => one === level);
  const reason = known === undefined ? 'there is no such level' : (NOT_MADE[known] ?? '');
  return `${level} has no spans: ${reason}; take one of ${MADE_LEVELS.join(', ')}`;
}

/** Spans between processes, but none inside of a model. */
export const DEFAULT_TRACE_LEVEL: TraceLevel = 'APPLICATION_TRACE';

export function isTraceLevel(text: unknown): text is TraceLevel {
  return (TRACE_LEVELS as readonly unknown[]).includes(text);
}

/** Each level includes those before it. */
export function includesLevel(asked: TraceLevel, level: TraceLevel): boolean {
  return TRACE_LEVELS.indexOf(level) <= TRACE_LEVELS.indexOf(asked) && level !== 'NO_TRACE';
}
