import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { chain, FOUR_LAYERS, MANY_OPERATORS, TINY_EVALUATION } from '../cli/support/tiny-models.js';
import { needsFerretDb } from '../store/mongodb/ferretdb-process.js';
import { until } from '../support/until.js';
import { needsReceiver } from '../tracing/support/receiver.js';
import { needsRabbitMq } from '../work/amqp/rabbitmq-process.js';
import { inRepository, readComposeFile } from './compose-file.js';
import { compose, type Composed, type NodeName } from './compose-process.js';

/** Only ends a test that hangs. */
const deadline = { timeout: 1_200_000 };

const needsEverything = {
  skip:
    [needsFerretDb, needsRabbitMq, needsReceiver].map(({ skip }) => skip).find((reason) => reason !== false) ?? false,
};

/** The services that run this project's image. */
const NODES: readonly NodeName[] = ['server', 'agent-1', 'agent-2'];

const file = readComposeFile({ MONGO_PASSWORD: 'm', RABBITMQ_PASSWORD: 'r' });

/** An evaluation of chains of layers. */
async function evaluation({ place }: Composed, models: readonly Uint8Array[]): Promise<string> {
  const names = models.map((_, index) => `net-${index}.onnx`);
  for (const [index, model] of models.entries()) await place.write(`net-${index}.onnx`, model);
  return place.write('evaluation.yml', JSON.stringify({ ...TINY_EVALUATION, models: names }));
}

/** Widths of the models that are measured while processes are replaced. */
const WIDTHS = [8, 16, 24, 32] as const;
const ALL_MEASUREMENTS = WIDTHS.length * MANY_OPERATORS.length;

interface Report {
  readonly models: readonly { readonly estimate_ms: number; readonly coverage: number }[];
}

describe('docker-compose.yml', () => {
  it('asks for passwords instead of containing them', () => {
    assert.throws(() => readComposeFile({}), /MONGO_PASSWORD: set it in \.env/);
    assert.throws(() => readComposeFile({ MONGO_PASSWORD: 'm' }), /RABBITMQ_PASSWORD: set it in \.env/);
  });

  it('has images of fixed versions, memory limits, and a restart of each service that keeps running', () => {
    for (const [name, service] of Object.entries(file.services)) {
      if (service.build === undefined) assert.match(service.image, /:\d+\.\d+\.\d+/, name);
      if (name === 'secrets' || name === 'command') continue;
      assert.equal(service.restart, 'unless-stopped', name);
      assert.match(service.mem_limit ?? '', /^\d+[gm]$/, name);
    }
  });

  it('refers only to services, volumes and files that exist', () => {
    for (const [name, { depends_on: needed = [], volumes = [] }] of Object.entries(file.services)) {
      const others = Array.isArray(needed) ? needed.map(String) : Object.keys(needed);
      for (const other of others) assert.ok(Object.hasOwn(file.services, other), `${name} needs ${other}`);
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('.')) assert.ok(existsSync(inRepository(source)), `${name} mounts ${source}`);
        else assert.ok(Object.hasOwn(file.volumes, source), `${name} mounts ${source}`);
      }
    }
  });

  it('waits for the health of services that have a health check', () => {
    for (const { depends_on: needed = [] } of Object.values(file.services)) {
      if (Array.isArray(needed)) continue;
      for (const [other, { condition }] of Object.entries(needed)) {
        if (condition === 'service_healthy') assert.ok(file.services[other]?.healthcheck, other);
      }
    }
  });

  it('gives each service only its own secrets, and the key of the authority to none that listens', () => {
    const mounted = (name: string): readonly string[] => {
      return (file.services[name]?.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    };
    const own = { server: 'server', 'agent-1': 'agent', 'agent-2': 'agent', command: 'client' };
    for (const [name, holder] of Object.entries(own)) {
      const secrets = mounted(name).filter((volume) => volume === 'authority' || volume.endsWith('-secrets'));
      assert.deepEqual(secrets, [`${holder}-secrets`], name);
    }
  });

  it('publishes no port of the database, the broker and the collector', () => {
    for (const name of ['mongodb', 'rabbitmq', 'otel-collector']) assert.equal(file.services[name]?.ports, undefined);
  });
});

describe('the image', () => {
  const text = readFileSync(inRepository('Dockerfile'), 'utf8');

  it('copies only files that the repository has', () => {
    const copied = [...text.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map(([, path = '']) => path);
    assert.ok(copied.includes('docker/healthy.js'));
    for (const path of copied.filter((one) => !/^(dist|node_modules)/.test(one))) {
      assert.ok(existsSync(inRepository(path)), path);
    }
  });

  it('runs as an ordinary user, on a version of Node.js that the package accepts', () => {
    assert.match(text, /^USER node$/m);
    const { engines } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as { engines: { node: string } };
    const versions = [...text.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version = '']) => version);
    const least = engines.node.replace('>=', '');
    assert.ok(versions.length === 2);
    for (const version of versions) assert.ok(version.localeCompare(least, 'en', { numeric: true }) >= 0, version);
  });
});

describe('the platform of the compose file, as processes', { ...deadline, ...needsEverything }, () => {
  it('evaluates with two agents, and its results and traces arrive', async (t) => {
    const at = await compose(t);
    assert.equal(await at.isHealthy('server'), false);
    await at.startAll();
    for (const name of NODES) assert.ok(await at.isHealthy(name), name);

    const manifest = await evaluation(at, [chain(FOUR_LAYERS)]);
    const json = at.place.path('report.json');
    const evaluated = await at.run(['evaluate', manifest, '--server', 'server:7080', '--export-json', json]);
    assert.equal(evaluated.code, 0, evaluated.stderr);
    const { models } = JSON.parse(readFileSync(json, 'utf8')) as Report;
    assert.equal(models[0]?.coverage, 1);

    const queues = await at.run(['queue', 'list']);
    // The last columns: agents, and waiting work.
    assert.match(queues.stdout, /│\s+2 │\s+0 │/);
    const stored = await at.run(['store', 'info']);
    assert.match(stored.stdout, /^measurements: [1-9]/m);

    const services = async (): Promise<ReadonlySet<string>> => {
      const [root] = (await at.jaeger.spans()).filter(({ service }) => service === 'mlmodelscope');
      return new Set((await at.jaeger.spans(root?.traceId)).map(({ service }) => service));
    };
    const wanted = ['mlmodelscope', 'mlmodelscope-server', 'mlmodelscope-agent'];
    await until(async () => {
      const sent = await services();
      return wanted.every((service) => sent.has(service));
    });

    const reader = { MLMODELSCOPE_TOKEN_FILE: at.place.path('secrets/client/read.token') };
    const listed = await at.run(['evaluations', 'list', '--server', 'server:7080'], reader);
    assert.match(listed.stdout, /tiny/);
    const refused = await at.run(['evaluate', manifest, '--server', 'server:7080'], reader);
    assert.match(refused.stderr, /"client-read" has the role read/);
  });

  it('loses no work while each of its processes is replaced', async (t) => {
    const at = await compose(t);
    const running = { ...(await at.startAll()) };
    const manifest = await evaluation(
      at,
      WIDTHS.map((width) => chain(MANY_OPERATORS, ['batch', width])),
    );
    const args = ['evaluate', manifest, '--server', 'server:7080', '--export-json', at.place.path('report.json')];
    const client = at.follow(args);
    for (const name of ['agent-2', 'server', 'agent-1'] as const) {
      const before = await at.measurements();
      await until(async () => (await at.measurements()) > before);
      assert.ok((await at.measurements()) < ALL_MEASUREMENTS, `all was measured before ${name} was replaced`);
      running[name].process.kill('SIGTERM');
      const { code, stderr } = await running[name].ended;
      assert.equal(code, 0, `${name}: ${stderr}`);
      running[name] = at.start(name);
      await running[name].said(/listening on /);
    }
    const { code, stderr } = await client.ended;
    assert.equal(code, 0, stderr);
    const known = [...stderr.matchAll(/ (\d+) known already/g)].map(([, count]) => Number(count));
    assert.ok(known.length === 2 && known[0] === 0 && (known[1] ?? 0) > 0, stderr);
    const { models } = JSON.parse(readFileSync(at.place.path('report.json'), 'utf8')) as Report;
    assert.deepEqual(
      models.map(({ coverage }) => coverage),
      WIDTHS.map(() => 1),
    );
    assert.equal(await at.measurements(), ALL_MEASUREMENTS);
  });
});
