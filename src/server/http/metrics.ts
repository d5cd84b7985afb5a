import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PLATFORM_VERSION } from '../../base/platform-version.js';
import type { EventStreams } from './events.js';
import type { WebSources } from './site-data.js';

type Labels = Readonly<Record<string, string>>;

function labelsText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    return `${name}="${escaped}"`;
  });
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

function metric(
  name: string,
  kind: 'gauge' | 'counter',
  help: string,
  values: readonly (readonly [Labels, number])[],
): string {
  const lines = values.map(([labels, value]) => `${name}${labelsText(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines, ''].join('\n');
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });

  constructor(
    private readonly sources: Pick<WebSources, 'platform' | 'agents'>,
    private readonly streams: EventStreams,
  ) {
    this.#delay.enable();
  }

  count(status: number): void {
    const code = `${Math.floor(status / 100)}xx`;
    this.#requests.set(code, (this.#requests.get(code) ?? 0) + 1);
  }

  text(): string {
    const { platform, agents } = this.sources;
    const plugins = platform.plugins();
    const { user, system } = process.cpuUsage();
    const p99 = this.#delay.percentile(99) / 1e9;
    this.#delay.reset();
    const one = (value: number): readonly (readonly [Labels, number])[] => [[{}, value]];
    return [
      metric('mlmodelscope_info', 'gauge', 'Version of the server.', [[{ version: PLATFORM_VERSION }, 1]]),
      metric('mlmodelscope_evaluations', 'gauge', 'Evaluations of this server that have not ended.', [
        [{ state: 'running' }, platform.working().length],
        [{ state: 'waiting' }, Math.max(0, platform.jobs - platform.working().length)],
      ]),
      metric('mlmodelscope_agents', 'gauge', 'Registered agents.', one(agents.list().length)),
      metric(
        'mlmodelscope_plugin_evaluations',
        'gauge',
        'Evaluations that an attached plugin runs.',
        plugins.map(({ name, version, running }, index) => [{ plugin: name, version, number: String(index) }, running]),
      ),
      metric('mlmodelscope_followers', 'gauge', 'Streams of events over HTTP.', one(this.streams.open)),
      metric(
        'mlmodelscope_http_requests_total',
        'counter',
        'Requests over HTTP by the class of their status.',
        [...this.#requests].map(([code, count]) => [{ code }, count]),
      ),
      metric('mlmodelscope_event_loop_delay_p99_seconds', 'gauge', 'Since the last scrape.', one(p99)),
      metric('process_resident_memory_bytes', 'gauge', 'Resident memory.', one(process.memoryUsage.rss())),
      metric('process_cpu_seconds_total', 'counter', 'Processor time.', one((user + system) / 1e6)),
    ].join('');
  }

  close(): void {
    this.#delay.disable();
  }
}
