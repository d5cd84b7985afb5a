import { PlatformError } from '../base/errors.js';
import { explainMissing, type OptionalPackages } from '../base/optional-package.js';
import { asksForTraces, type EnvironmentVariables } from './environment.js';
import { activeTracing, setActiveTracing, type Tracing } from './tracing.js';

/** All exporters, so that one installation is enough for every protocol. */
const OPEN_TELEMETRY: OptionalPackages = {
  feature: 'tracing',
  packages: [
    '@opentelemetry/api',
    '@opentelemetry/sdk-node',
    '@opentelemetry/exporter-trace-otlp-grpc',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/exporter-trace-otlp-proto',
  ],
};

export interface TracingOptions {
  readonly serviceName: string;
  readonly environment: EnvironmentVariables;
  /** Called for the first export that fails. Closing does not throw then. */
  readonly onExportFailure?: ((problem: string) => void) | undefined;
}

/**
 * Loads nothing if the OTEL_* variables do not ask for tracing.
 *
 * @throws PlatformError `usage` for an unsupported variable, `unsupported` if OpenTelemetry is not installed
 */
export async function startTracing(options: TracingOptions): Promise<Tracing | undefined> {
  return asksForTraces(options.environment) ? start(options) : undefined;
}

/** Without the OTEL_* variables, spans are kept, but not exported. @throws PlatformError as {@link startTracing} */
export async function requireTracing(options: TracingOptions): Promise<Tracing> {
  if (asksForTraces(options.environment)) return start(options);
  return start({ ...options, environment: { ...options.environment, OTEL_TRACES_EXPORTER: 'none' } });
}

/** Undefined where the optional packages are not installed; `onMissing` gets the reason. */
export async function tracingIfInstalled(
  options: TracingOptions,
  onMissing?: (reason: string) => void,
): Promise<Tracing | undefined> {
  try {
    return await requireTracing(options);
  } catch (error) {
    if (!(error instanceof PlatformError && error.code === 'unsupported')) throw error;
    onMissing?.(error.message);
    return undefined;
  }
}

async function start(options: TracingOptions): Promise<Tracing> {
  const running = activeTracing();
  if (running !== undefined) return running;
  const tracing = await import('./open-telemetry/start.js')
    .then(({ startOpenTelemetry }) => startOpenTelemetry(options))
    .catch((error: unknown) => {
      throw explainMissing(error, OPEN_TELEMETRY);
    });
  setActiveTracing(tracing);
  return tracing;
}
