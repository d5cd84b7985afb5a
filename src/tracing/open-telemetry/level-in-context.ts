import { type Context, propagation } from '@opentelemetry/api';
import { DEFAULT_TRACE_LEVEL, isTraceLevel, type TraceLevel } from '../trace-level.js';

/** W3C baggage reaches every process that the trace does. */
const BAGGAGE_KEY = 'mlmodelscope.trace_level';

export function levelIn(context: Context): TraceLevel {
  const asked = propagation.getBaggage(context)?.getEntry(BAGGAGE_KEY)?.value;
  return isTraceLevel(asked) ? asked : DEFAULT_TRACE_LEVEL;
}

export function withLevel(context: Context, level: TraceLevel): Context {
  const baggage = propagation.getBaggage(context) ?? propagation.createBaggage();
  return propagation.setBaggage(context, baggage.setEntry(BAGGAGE_KEY, { value: level }));
}
