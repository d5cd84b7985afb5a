import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { MAIN, type Ending, type Running, workplace, type Workplace } from '../cli/support/command.js';
import type { Measurement } from '../../src/measurement/measurement.js';
import { openStore } from '../../src/store/open-store.js';
import { startFerretDb } from '../store/mongodb/ferretdb-process.js';
import { freePort } from '../support/free-port.js';
import { type Receiver, startReceiver } from '../tracing/support/receiver.js';
import { startRabbitMq } from '../work/amqp/rabbitmq-process.js';
import { type ComposeFile, inRepository, readComposeFile } from './compose-file.js';

/** The services that run this project's image. */
export type NodeName = 'server' | 'agent-1' | 'agent-2';

export interface Composed {
  readonly place: Workplace;
  readonly file: ComposeFile;
  /** The substitute for Jaeger. */
  readonly jaeger: Receiver;
  /** host:port of the server. */
  readonly server: string;
  /** Starts a service with its command line and environment. */
  start(name: NodeName): Running;
  /** Starts all services, each when the services before it are ready. */
  startAll(): Promise<Readonly<Record<NodeName, Running>>>;
  /** As `docker compose run command ARGS`. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ending>;
  /** Starts the same command, and does not wait for its end. */
  follow(args: readonly string[]): Running;
  /** How many measurements are stored. */
  measurements(): Promise<number>;
  /** Runs the health check of a service to its end. */
  isHealthy(name: NodeName): Promise<boolean>;
}

/** Starts the collector with the configuration of the compose file. @returns host:port where it takes OTLP over HTTP */
async function startCollector(t: TestContext, place: Workplace, jaeger: Receiver): Promise<string> {
  const grpc = `127.0.0.1:${await freePort()}`;
  const http = `127.0.0.1:${await freePort()}`;
  const configuration = readFileSync(inRepository('docker/otel-collector.yml'), 'utf8')
    .replace('0.0.0.0:4317', grpc)
    .replace('0.0.0.0:4318', http)
    .replace('jaeger:4317', new URL(jaeger.grpcEndpoint).host);
  // The collector's own metrics have a fixed port.
  const own = 'service:\n  telemetry: { metrics: { level: none } }';
  const path = await place.write('otel-collector.yml', configuration.replace('service:', own));
  const child = spawn(process.env['OTEL_COLLECTOR'] ?? '', ['--config', `file:${path}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let log = '';
  for await (const text of child.stderr.setEncoding('utf8')) {
    log += text as string;
    if (log.includes('Everything is ready')) break;
  }
  if (child.exitCode !== null) throw new Error(`the collector has ended: ${log}`);
  return http;
}

/** The platform of docker-compose.yml as processes of this machine, with addresses and folders replaced. */
export async function compose(t: TestContext): Promise<Composed> {
  const place = await workplace(t);
  const database = await startFerretDb(t, { authenticated: true });
  const broker = await startRabbitMq(t);
  const jaeger = await startReceiver(t);
  const collector = await startCollector(t, place, jaeger);
  const file = readComposeFile({ MONGO_PASSWORD: 'm', RABBITMQ_PASSWORD: 'r' });
  const secrets = place.path('secrets');
  await mkdir(secrets);
  execFileSync('sh', [inRepository('docker/secrets.sh'), secrets], { stdio: 'pipe' });
  const ports = { server: await freePort(), 'agent-1': await freePort(), 'agent-2': await freePort() };

  /** A text of the compose file, with paths and addresses of a service on this machine. */
  const here = (text: string, folder: string, port: number | undefined): string =>
    text
      .replace('/secrets', place.path('secrets', folder))
      .replace('/app/lib/src/bin/main.js', MAIN)
      .replace('/app/docker/', inRepository('docker/'))
      .replace('mongodb://mlmodelscope:m@mongodb:27017', `mongodb://alice:correct-horse@${database.address}`)
      .replace('amqp://mlmodelscope:r@rabbitmq:5672', broker.uri)
      .replace('otel-collector:4318', collector)
      .replace(/^--listen=0\.0\.0\.0:\d+$/, `--listen=127.0.0.1:${port}`)
      .replace(/^--http=0\.0\.0\.0:\d+$/, '--http=127.0.0.1:0')
      .replace(/\b(server|agent-[12]):70[78]0\b/, (_, name: NodeName) => `127.0.0.1:${ports[name]}`)
      .replace(/^70[78]0$/, String(port));

  const surroundings = (name: NodeName | 'command') => {
    const { environment = {} } = file.services[name] ?? {};
    const folder = { server: 'server', 'agent-1': 'agent', 'agent-2': 'agent', command: 'client' }[name];
    const port = name === 'command' ? undefined : ports[name];
    const translate = (text: string): string => here(text, folder, port);
    const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, translate(value)]));
    // Each container has a cache and a configuration of its own.
    return {
      translate,
      env: { ...env, MLMODELSCOPE_CACHE: place.path('cache', name), MLMODELSCOPE_CONFIG: undefined },
    };
  };

  const start = (name: NodeName): Running => {
    const { translate, env } = surroundings(name);
    return place.start((file.services[name]?.command ?? []).map(translate), { env });
  };

  const follow = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Running => {
    const { translate, env } = surroundings('command');
    const [program = '', ...rest] = (file.services['command']?.entrypoint ?? []).map(translate);
    return place.startProgram(program, [...rest, ...args.map(translate)], { env: { ...env, ...more } });
  };

  return {
    place,
    file,
    jaeger,
    server: `127.0.0.1:${ports.server}`,
    start,
    async startAll() {
      const server = start('server');
      await server.said(/server listening on /);
      const agents = { 'agent-1': start('agent-1'), 'agent-2': start('agent-2') };
      for (const agent of Object.values(agents)) {
        await agent.said(/registered with /);
        await agent.said(/takes work for systems /);
      }
      return { server, ...agents };
    },
    run: (args, env) => follow(args, env).ended,
    follow,
    async measurements() {
      const { env }: { readonly env: NodeJS.ProcessEnv } = surroundings('command');
      const store = await openStore(env['MLMODELSCOPE_STORE'], { access: 'read' });
      try {
        const all: Measurement[] = [];
        for await (const measurement of store.listMeasurements()) all.push(measurement);
        return all.length;
      } finally {
        await store.close();
      }
    },
    async isHealthy(name) {
      const { translate } = surroundings(name);
      const [, program = '', ...args] = (file.services[name]?.healthcheck?.test ?? []).map(translate);
      return (await place.startProgram(program, args).ended).code === 0;
    },
  };
}
