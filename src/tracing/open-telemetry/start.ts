import type { NodeSDKConfiguration, tracing as sdk } from '@opentelemetry/sdk-node';
import { core, NodeSDK, resources, tracing as sdkTracing } from '@opentelemetry/sdk-node';
import { PlatformError } from '../../base/errors.js';
import { PLATFORM_VERSION } from '../../base/platform-version.js';
import { namesService, otlpProtocolIn, tracesExportersIn, type EnvironmentVariables } from '../environment.js';
import type { TracingOptions } from '../start-tracing.js';
import { setActiveTracing, type Tracing } from '../tracing.js';
import { exportProblem, OpenTelemetryTracing } from './open-telemetry-tracing.js';
import { SpanKeeper } from './span-keeper.js';

/** The exporters read OTEL_EXPORTER_OTLP_* themselves. */
async function otlpExporter(environment: EnvironmentVariables): Promise<sdk.SpanExporter> {
  switch (otlpProtocolIn(environment)) {
    case 'grpc':
      return new (await import('@opentelemetry/exporter-trace-otlp-grpc')).OTLPTraceExporter();
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter();
  }
}

function reporting(exporter: sdk.SpanExporter, onFailure: (error: unknown) => void): sdk.SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.code === core.ExportResultCode.FAILED) onFailure(result.error);
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The processor reads OTEL_BSP_* itself. */
async function sendersIn(
  environment: EnvironmentVariables,
  onFailure: (error: unknown) => void,
): Promise<readonly sdk.SpanProcessor[]> {
  if (!tracesExportersIn(environment).includes('otlp')) return [];
  return [new sdkTracing.BatchSpanProcessor(reporting(await otlpExporter(environment), onFailure))];
}

function printersIn(environment: EnvironmentVariables): readonly sdk.SpanProcessor[] {
  if (!tracesExportersIn(environment).includes('console')) return [];
  return [new sdkTracing.SimpleSpanProcessor(new sdkTracing.ConsoleSpanExporter())];
}

/** Not the SDK's process detector: command lines may contain passwords. */
function makeResource(): Pick<NodeSDKConfiguration, 'resource' | 'resourceDetectors'> {
  const thisProcess = resources.resourceFromAttributes({
    'service.version': PLATFORM_VERSION,
    'process.pid': process.pid,
  });
  return {
    resource: resources.defaultResource().merge(thisProcess),
    resourceDetectors: [resources.envDetector, resources.hostDetector],
  };
}

/** Sets OpenTelemetry's SDK up from the standard variables. @throws PlatformError `usage` for an unsupported value */
export async function startOpenTelemetry(options: TracingOptions): Promise<Tracing> {
  const { serviceName, environment, onExportFailure } = options;
  const keeper = new SpanKeeper();
  let isReported = false;
  const senders = await sendersIn(environment, (error) => {
    if (onExportFailure === undefined || isReported) return;
    isReported = true;
    onExportFailure(exportProblem(error));
  });
  const exporting = [...senders, ...printersIn(environment)];
  const node = new NodeSDK({
    ...(namesService(environment) ? {} : { serviceName }),
    ...makeResource(),
    spanProcessors: [...exporting, keeper],
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  node.start();
  return new OpenTelemetryTracing({
    keeper,
    senders,
    flush: async () => void (await Promise.all(exporting.map((processor) => processor.forceFlush()))),
    shutDown: async () => {
      setActiveTracing(undefined);
      await node.shutdown().catch((error: unknown) => {
        // The store's errors are PlatformErrors.
        if (!isReported || error instanceof PlatformError) throw error;
      });
    },
  });
}
