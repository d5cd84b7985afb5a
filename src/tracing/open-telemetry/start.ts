import type { NodeSDKConfiguration, tracing as sdk } from '@opentelemetry/sdk-node';
import { NodeSDK, resources, tracing as sdkTracing } from '@opentelemetry/sdk-node';
import { namesService, otlpProtocolIn, tracesExportersIn, type EnvironmentVariables } from '../environment.js';
import type { TracingOptions } from '../start-tracing.js';
import { setActiveTracing, type Tracing } from '../tracing.js';
import { OpenTelemetryTracing } from './open-telemetry-tracing.js';
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

/** The processor reads OTEL_BSP_* itself. */
async function sendersIn(environment: EnvironmentVariables): Promise<readonly sdk.SpanProcessor[]> {
  if (!tracesExportersIn(environment).includes('otlp')) return [];
  return [new sdkTracing.BatchSpanProcessor(await otlpExporter(environment))];
}

function printersIn(environment: EnvironmentVariables): readonly sdk.SpanProcessor[] {
  if (!tracesExportersIn(environment).includes('console')) return [];
  return [new sdkTracing.SimpleSpanProcessor(new sdkTracing.ConsoleSpanExporter())];
}

/** Not the SDK's process detector: command lines may contain passwords. */
function makeResource(): Pick<NodeSDKConfiguration, 'resource' | 'resourceDetectors'> {
  const thisProcess = resources.resourceFromAttributes({ 'process.pid': process.pid });
  return {
    resource: resources.defaultResource().merge(thisProcess),
    resourceDetectors: [resources.envDetector, resources.hostDetector],
  };
}

/** Sets OpenTelemetry's SDK up from the standard variables. @throws PlatformError `usage` for an unsupported value */
export async function startOpenTelemetry({ serviceName, environment }: TracingOptions): Promise<Tracing> {
  const keeper = new SpanKeeper();
  const senders = await sendersIn(environment);
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
      await node.shutdown();
    },
  });
}
