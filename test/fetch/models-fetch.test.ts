import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { deadline, type Ending, type Workplace } from '../cli/support/command.js';
import { assertOneMessage } from '../cli/support/report.js';
import { workplaceHere } from '../cli/support/workplace-here.js';
import { authorityForSuite } from '../rpc/support/certificates.js';
import { tarOf } from './support/archives.js';
import { type FileServer, fileServer } from './support/file-server.js';
import { md5, olderManifest as manifestOf, TINY_GRAPH as GRAPH } from './support/older-manifest.js';

const LABELS = 'ant\nbee\n';

interface Scene {
  readonly place: Workplace;
  readonly server: FileServer;
  /** Runs `models fetch`, which trusts the certificate of the server. */
  readonly fetch: (...args: readonly string[]) => Promise<Ending>;
}

describe('models fetch', { ...deadline, concurrency: 2 }, () => {
  const authority = authorityForSuite();

  async function scene(t: TestContext): Promise<Scene> {
    const place = await workplaceHere(t);
    const server = await fileServer(t, authority());
    server.files.set('/models/tiny.onnx', GRAPH);
    server.files.set('/synset.txt', Buffer.from(LABELS));
    // Node reads this variable when a process starts.
    const env = { NODE_EXTRA_CA_CERTS: join(authority().folder, 'ca.pem') };
    const fetch = (...args: readonly string[]): Promise<Ending> => {
      return place.start(['models', 'fetch', '--allow-private-urls', ...args], { env }).ended;
    };
    return { place, server, fetch };
  }

  it('pins the manifests that an evaluation refers to, and a changed one is refused', async (t) => {
    const { place, fetch } = await scene(t);
    const model = `dlspec: model/v1
name: tiny
version: 1.2.0
framework: { name: onnxruntime, version: '*' }
model: { graph_path: tiny.onnx, checksum: ${createHash('sha256').update(GRAPH).digest('hex')} }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 8] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 8] }]
`;
    await place.write('tiny.onnx', GRAPH);
    await place.write('tiny.yml', model);
    await place.write('evaluation.yml', 'dlspec: evaluation/v1\nname: e\nversion: 1.0.0\nmodels: [tiny@1.2.0]\n');
    const fetched = await fetch('evaluation.yml');
    assert.equal(fetched.code, 0, fetched.stderr);
    const { manifests } = JSON.parse(await readFile(place.path('models-lock.json'), 'utf8')) as Record<string, unknown>;
    assert.deepEqual(manifests, { 'tiny@1.2.0': createHash('sha256').update(model).digest('hex') });
    await place.write('tiny.yml', `${model}description: another\n`);
    const refused = await place.run(['dlbricks', 'run', 'evaluation.yml']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /models\[0\]: expected the manifest that models-lock\.json pins/);
  });

  it('is suggested by a command that needs a missing file, and fetches this file', async (t) => {
    const { place, server, fetch } = await scene(t);
    await place.write(
      'tiny net.yml',
      manifestOf(
        `    graph_path: ${server.origin}/models/tiny.onnx\n    graph_checksum: ${md5(GRAPH)}\n` +
          `    features_path: ${server.origin}/synset.txt\n    features_checksum: ${md5(LABELS)}`,
      ),
    );
    const timing = ['latency', 'tiny net.yml', '--runs', '3', '--quiet', '--export-json', '-'];
    const before = await place.run(timing);
    assert.match(before.stderr, /get it with `mlmodelscope models fetch 'tiny net\.yml'`/);
    assert.deepEqual([before.code, server.requests.length], [2, 0]);

    const fetched = await fetch('tiny net.yml');
    const graph = `fetched/${server.place}/models/tiny.onnx`;
    assert.deepEqual(fetched, { stdout: `${graph}\n`, stderr: '', code: 0 });
    assert.ok((await readFile(place.path(graph))).equals(GRAPH));
    assert.equal(await readFile(place.path('fetched', server.place, 'synset.txt'), 'utf8'), LABELS);

    const after = await place.run(timing);
    assert.deepEqual([after.stderr, after.code], ['', 0]);
    assert.match(after.stdout, /"model": "Tiny-Net v1"/);

    const { length } = server.requests;
    assert.equal((await fetch('tiny net.yml')).code, 0);
    assert.equal(server.requests.length, length, 'nothing is fetched again');
  });

  it('warns of labels that it cannot get, and gets the graph', async (t) => {
    const { place, server, fetch } = await scene(t);
    const labels = 'http://labels.invalid/synset.txt';
    await place.write(
      'm.yml',
      manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx\n    features_path: ${labels}`),
    );
    const { stdout, stderr, code } = await fetch('m.yml');
    assert.deepEqual([stdout, code], [`fetched/${server.place}/models/tiny.onnx\n`, 0], stderr);
    assert.match(
      stderr,
      /^warning: m\.yml: the URL "http:.*synset\.txt" is not https.*; without these labels, classes have/m,
    );
  });

  it('keeps no file whose checksum differs from that of the manifest', async (t) => {
    const { place, server, fetch } = await scene(t);
    const model = `    base_url: ${server.origin}/models\n    graph_path: tiny.onnx\n    graph_checksum: ${md5('x')}`;
    await place.write('m.yml', manifestOf(model));
    const ending = await fetch('m.yml');
    assertOneMessage(ending);
    assert.match(ending.stderr, /is not the file of the manifest: expected md5 \w{32}, found \w{32}/);
    assert.equal(ending.code, 2);
    assert.deepEqual(await readdir(place.path('fetched', server.place, 'models')), []);
  });

  it('pins a file without a checksum, and refuses another file later', async (t) => {
    const { place, server, fetch } = await scene(t);
    await place.write('m.yml', manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx`));
    assert.equal((await fetch('m.yml')).code, 0);
    const lock = JSON.parse(await readFile(place.path('models-lock.json'), 'utf8')) as {
      files: Record<string, { url: string; sha256: string }>;
    };
    const graph = `fetched/${server.place}/models/tiny.onnx`;
    const sha256 = createHash('sha256').update(GRAPH).digest('hex');
    assert.deepEqual(lock.files[graph], { url: `${server.origin}/models/tiny.onnx`, sha256, bytes: GRAPH.length });

    await writeFile(place.path(graph), 'something else');
    const used = await place.run(['latency', 'm.yml', '--quiet']);
    assert.match(used.stderr, /is not the file of its manifest: expected sha256/);
    assert.equal(used.code, 2);

    await rm(place.path(graph));
    server.files.set('/models/tiny.onnx', Buffer.from('another model'));
    const again = await fetch('m.yml');
    assert.match(again.stderr, /is not the file that was fetched first: expected sha256 .* remove the file's entry/);
    assert.equal(again.code, 2);
  });

  it('keeps a folder that was there before, also where the archive lacks the graph', async (t) => {
    const { place, server, fetch } = await scene(t);
    server.files.set('/tiny.tgz', tarOf([{ name: 'other.onnx', content: GRAPH }]));
    const model = `    base_url: ${server.origin}/tiny.tgz\n    graph_path: tiny.onnx\n    is_archive: true`;
    await place.write('m.yml', manifestOf(model));
    const folder = `fetched/${server.place}/tiny.tgz.files`;
    await mkdir(place.path(folder), { recursive: true });
    const mine = await place.write(`${folder}/mine.txt`, 'do not delete');
    const ending = await fetch('m.yml');
    assertOneMessage(ending);
    assert.match(
      ending.stderr,
      /tiny\.tgz\.files has no file tiny\.onnx; remove that folder to unpack the archive again/,
    );
    assert.equal(await readFile(mine, 'utf8'), 'do not delete');
  });

  it('continues a download that broke', async (t) => {
    const { place, server, fetch } = await scene(t);
    const weights = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251));
    server.files.set('/models/weights.bin', weights);
    server.breaks.set('/models/weights.bin', 120_000);
    await place.write(
      'm.yml',
      manifestOf(`    base_url: ${server.origin}/models/\n    graph_path: tiny.onnx\n    weights_path: weights.bin`),
    );
    const broken = await fetch('m.yml');
    assert.match(broken.stderr, /the connection broke .*; the same command continues/);
    assert.equal(broken.code, 2);
    assert.equal((await fetch('m.yml')).code, 0);
    const asked = server.requests
      .filter(({ path }) => path === '/models/weights.bin')
      .map(({ headers }) => headers.range);
    // The last bytes that the server has sent may be lost with the connection.
    const [first, from = ''] = [asked[0], /^bytes=(\d+)-$/.exec(asked[1] ?? '')?.[1]];
    assert.deepEqual([first, asked.length], [undefined, 2]);
    assert.ok(Number(from) > 0 && Number(from) <= 120_000, asked[1]);
    assert.ok((await readFile(place.path('fetched', server.place, 'models/weights.bin'))).equals(weights));
  });

  it('starts again where the file has changed', async (t) => {
    const { place, server, fetch } = await scene(t);
    server.files.set('/models/tiny.onnx', Buffer.alloc(100_000, 'old'));
    server.breaks.set('/models/tiny.onnx', 50_000);
    await place.write('m.yml', manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx`));
    assert.equal((await fetch('m.yml')).code, 2);
    const changed = Buffer.alloc(90_000, 'new');
    server.files.set('/models/tiny.onnx', changed);
    assert.equal((await fetch('m.yml')).code, 0);
    assert.ok((await readFile(place.path('fetched', server.place, 'models/tiny.onnx'))).equals(changed));
  });

  it('unpacks an archive, whose checksum may be that of the archive or of the graph in it', async (t) => {
    const { place, server, fetch } = await scene(t);
    const archive = gzipSync(tarOf([{ name: './export/tiny.onnx', content: GRAPH }]));
    server.files.set('/tiny.tgz', archive);
    for (const [name, checksum] of [
      ['a', md5(archive)],
      ['b', md5(GRAPH)],
    ] as const) {
      const model = `    base_url: ${server.origin}/tiny.tgz\n    graph_path: export/tiny.onnx\n    is_archive: true\n`;
      await mkdir(place.path(name));
      await place.write(`${name}/m.yml`, manifestOf(`${model}    graph_checksum: ${checksum}`));
      const { stdout, code } = await fetch(`${name}/m.yml`);
      assert.equal(code, 0);
      assert.ok((await readFile(place.path(stdout.trim()))).equals(GRAPH));
    }
    const used = await place.run(['latency', 'a/m.yml', '--runs', '3', '--quiet']);
    assert.deepEqual([used.stderr, used.code], ['', 0]);
  });

  it('takes files from a mirror, without any connection', async (t) => {
    const { place, server, fetch } = await scene(t);
    const model = (url: string): string => `    graph_path: ${url}\n    graph_checksum: ${md5(GRAPH)}`;
    await place.write('a.yml', manifestOf(model('https://store.invalid/x/y/tiny.onnx')));
    await place.write('b.yml', manifestOf(model('https://store.invalid/x/flat.onnx?raw=true')));
    for (const file of ['mirror/store.invalid/x/y/tiny.onnx', 'mirror/flat.onnx_raw=true']) {
      await mkdir(dirname(place.path(file)), { recursive: true });
      await writeFile(place.path(file), GRAPH);
    }
    const ending = await fetch('a.yml', 'b.yml', '--mirror', 'mirror');
    const folder = 'fetched/store.invalid/x';
    assert.deepEqual(ending, { stdout: `${folder}/y/tiny.onnx\n${folder}/flat.onnx_raw=true\n`, stderr: '', code: 0 });
    assert.equal(server.requests.length, 0);
  });

  it('reports the problem of each manifest of a folder in a line of its own, and fetches files for the others', async (t) => {
    const { place, server, fetch } = await scene(t);
    await mkdir(place.path('models'));
    const url = `${server.origin}/models/tiny.onnx`;
    await place.write('models/a.yml', manifestOf(`    graph_path: ${url}`));
    await place.write('models/b.yml', manifestOf(`    graph_path: ${server.origin}/missing.onnx`));
    await place.write('models/c.yml', 'name: [\n');
    await place.write(
      'models/d.yml',
      manifestOf(`    graph_path: ${url}`).replace('[-1, 2]', '[wide]').replace('1.0', 'x'),
    );
    const { stdout, stderr, code } = await fetch('models');
    assert.equal(stdout, `models/fetched/${server.place}/models/tiny.onnx\n`);
    const lines = stderr.trimEnd().split('\n');
    assert.deepEqual(
      lines
        .map((line) => /^(?:warning: )?(models\/.\.yml|files are missing for 3 of 4 manifests)/.exec(line)?.[1])
        .sort(),
      ['files are missing for 3 of 4 manifests', 'models/b.yml', 'models/c.yml', 'models/d.yml'],
    );
    assert.match(stderr, /models\/b\.yml: nothing can be fetched from .*missing\.onnx: it answers with status 404/);
    assert.match(stderr, /models\/d\.yml:.*\(and 1 more\)/);
    assert.equal(code, 2);
  });

  describe('is careful', { concurrency: 2 }, () => {
    const wrong: readonly [string, (scene: Scene) => Promise<Ending>, RegExp][] = [
      [
        'with plain http',
        async ({ place }) => {
          await place.write('m.yml', manifestOf('    graph_path: http://store.invalid/tiny.onnx'));
          return place.run(['models', 'fetch', 'm.yml']);
        },
        /"http:\/\/store\.invalid\/tiny\.onnx" is not https:\/\/; --allow-http accepts/,
      ],
      [
        'with addresses inside the network',
        async ({ place, server }) => {
          await place.write('m.yml', manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx`));
          return place.run(['models', 'fetch', 'm.yml']);
        },
        /points at this machine or inside of a network, .*--allow-private-urls/,
      ],
      [
        'with certificates of an unknown authority',
        async ({ place, server }) => {
          await place.write('m.yml', manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx`));
          return place.run(['models', 'fetch', '--allow-private-urls', 'm.yml']);
        },
        /nothing can be fetched from .*: unable to/,
      ],
      [
        'with an invalid lock file',
        async ({ place, server }) => {
          await place.write('m.yml', manifestOf(`    graph_path: ${server.origin}/models/tiny.onnx`));
          await place.write('models-lock.json', '{}');
          return place.run(['models', 'fetch', '--allow-private-urls', 'm.yml']);
        },
        /models-lock\.json: expected the lock file of `models fetch`, found something else/,
      ],
      [
        'with a mirror that is not there',
        ({ place }) => place.run(['models', 'fetch', 'm.yml', '--mirror', 'no']),
        /--mirror no: no such folder/,
      ],
      [
        'with an archive that holds no such graph',
        async ({ place, server, fetch }) => {
          server.files.set('/tiny.tgz', tarOf([{ name: 'other.onnx', content: GRAPH }]));
          const model = `    base_url: ${server.origin}/tiny.tgz\n    graph_path: tiny.onnx\n    is_archive: true`;
          await place.write('m.yml', manifestOf(model));
          return fetch('m.yml');
        },
        /the archive has no file tiny\.onnx/,
      ],
      [
        'with an address that is no URL, such as one with a zone',
        async ({ place, fetch }) => {
          await place.write('m.yml', manifestOf(`    graph_path: 'http://[fe80::1%25lo]/tiny.onnx'`));
          return fetch('m.yml');
        },
        /the URL "http:\/\/\[fe80::1%25lo\]\/tiny\.onnx" is not a URL/,
      ],
      [
        'with a password in an address, which no message shows',
        async ({ place, fetch }) => {
          await place.write('m.yml', manifestOf('    graph_path: https://me:secret@models.example/tiny.onnx'));
          const ending = await fetch('m.yml');
          assert.doesNotMatch(ending.stderr, /secret/);
          return ending;
        },
        /the URL "https:\/\/…@models\.example\/tiny\.onnx" has a user name; give none/,
      ],
    ];
    for (const [what, act, message] of wrong) {
      it(what, async (t) => {
        const ending = await act(await scene(t));
        assertOneMessage(ending);
        assert.match(ending.stderr, message);
        assert.equal(ending.code, 2);
      });
    }
  });
});
