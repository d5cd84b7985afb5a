import { PlatformError } from '../base/errors.js';
import { ownValue } from '../base/own-value.js';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Of OTEL_TRACES_EXPORTER. With `none`, spans go only into the store. */
export const TRACES_EXPORTERS = ['otlp', 'console', 'none'] as const;

export type TracesExporter = (typeof TRACES_EXPORTERS)[number];

export const OTLP_PROTOCOLS = ['grpc', 'http/protobuf', 'http/json'] as const;

export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Any of these turns tracing on. By the specification, an empty variable counts as not set. */
const ASKING = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

function readText(environment: EnvironmentVariables, name: string): string | undefined {
  const text = ownValue(environment, name)?.trim();
  return text === '' ? undefined : text;
}

export function asksForTraces(environment: EnvironmentVariables): boolean {
  const disabled = readText(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return !disabled && ASKING.some((name) => readText(environment, name) !== undefined);
}

function requireOneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw new PlatformError('usage', `${name}: expected ${known.join(', ')}, found ${text}`);
}

/** @throws PlatformError `usage` for an exporter that this platform does not have */
export function tracesExportersIn(environment: EnvironmentVariables): readonly Exclude<TracesExporter, 'none'>[] {
  const name = 'OTEL_TRACES_EXPORTER';
  const listed = (readText(environment, name) ?? 'otlp').split(',').map((text) => text.trim());
  const exporters = new Set(listed.map((text) => requireOneOf(name, text, TRACES_EXPORTERS)));
  return [...exporters].filter((exporter) => exporter !== 'none');
}

/** The variable for traces wins over the general one. @throws PlatformError `usage` for an unknown protocol */
export function otlpProtocolIn(environment: EnvironmentVariables): OtlpProtocol {
  for (const name of ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) {
    const text = readText(environment, name);
    if (text !== undefined) return requireOneOf(name, text, OTLP_PROTOCOLS);
  }
  return 'http/protobuf';
}

export function namesService(environment: EnvironmentVariables): boolean {
  const attributes = readText(environment, 'OTEL_RESOURCE_ATTRIBUTES') ?? '';
  return readText(environment, 'OTEL_SERVICE_NAME') !== undefined || /(^|,)\s*service\.name\s*=/.test(attributes);
}
