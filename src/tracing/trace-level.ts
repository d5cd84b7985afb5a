/**
 * How deep a trace goes: each level has the spans of those before it as well. The platform's names and order
 * (ExecutionOptions.TraceLevel in predictor.proto).
 */
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

/** The default level: spans between processes, none inside of a model. */
export const DEFAULT_TRACE_LEVEL: TraceLevel = 'APPLICATION_TRACE';

export function isTraceLevel(text: unknown): text is TraceLevel {
  return (TRACE_LEVELS as readonly unknown[]).includes(text);
}

/** Whether a trace of the level that was asked for has spans of another one. */
export function includesLevel(asked: TraceLevel, level: TraceLevel): boolean {
  return TRACE_LEVELS.indexOf(level) <= TRACE_LEVELS.indexOf(asked) && level !== 'NO_TRACE';
}
