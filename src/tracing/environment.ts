import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';

/** The variables that OpenTelemetry's specification defines, as they are set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What OTEL_TRACES_EXPORTER may list. `none` makes spans that go into the store only. */
export const TRACES_EXPORTERS = ['otlp', 'console', 'none'] as const;

export type TracesExporter = (typeof TRACES_EXPORTERS)[number];

export const OTLP_PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Any of these says that somebody wants traces. An empty variable counts as not set, as the specification has it. */
const ASKING = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

function textOf(environment: Environment, name: string): string | undefined {
  const text = ownValue(environment, name)?.trim();
  return text === '' ? undefined : text;
}

/** Whether the environment turns tracing on. */
export function asksForTraces(environment: Environment): boolean {
  const disabled = textOf(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return !disabled && ASKING.some((name) => textOf(environment, name) !== undefined);
}

/** @throws PlatformError `usage` */
function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw new PlatformError('usage', `${name}: expected ${known.join(', ')}, found ${text}`);
}

/**
 * Where OTEL_TRACES_EXPORTER has traces sent to; otlp where it says nothing.
 *
 * @throws PlatformError `usage` for an exporter that this platform does not have
 */
export function tracesExportersIn(environment: Environment): readonly Exclude<TracesExporter, 'none'>[] {
  const name = 'OTEL_TRACES_EXPORTER';
  const listed = (textOf(environment, name) ?? 'otlp').split(',').map((text) => text.trim());
  const exporters = new Set(listed.map((text) => oneOf(name, text, TRACES_EXPORTERS)));
  return [...exporters].filter((exporter) => exporter !== 'none');
}

/**
 * How OTLP is spoken: the variable for traces decides before the one for everything; http/protobuf without either.
 *
 * @throws PlatformError `usage` for a protocol that OTLP does not have
 */
export function otlpProtocolIn(environment: Environment): OtlpProtocol {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const text = textOf(environment, name);
    if (text !== undefined) return oneOf(name, text, OTLP_PROTOCOLS);
  }
  return 'http/protobuf';
}

/** Whether the environment itself names the service that this process is. */
export function namesService(environment: Environment): boolean {
  const attributes = textOf(environment, 'OTEL_RESOURCE_ATTRIBUTES') ?? '';
  return textOf(environment, 'OTEL_SERVICE_NAME') !== undefined || /(^|,)\s*service\.name\s*=/.test(attributes);
}
