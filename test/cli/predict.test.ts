import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { coloredPictures } from '../agent/support/colored-pictures.js';
import { LABELS } from '../agent/support/prediction-models.js';
import { assertOfSchema } from '../schemas/validator.js';
import { until } from '../support/until.js';
import type { Provenance } from '../../src/agent/provenance.js';
import { deadline, type Ending, MAIN, type Workplace, workplace } from './support/command.js';
import { classifierManifest, echoManifest, tokensManifest } from './support/predicting-models.js';
import { workplaceHere } from './support/workplace-here.js';

interface Line {
  readonly input_id: string;
  readonly features?: readonly Readonly<Record<string, unknown>>[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** The JSON lines on standard output; asserts that each matches the published schema. */
function linesOf({ stdout, stderr }: Ending): readonly Line[] {
  assert.notEqual(stdout, '', stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line, index) => {
      const { provenance, ...document } = JSON.parse(line) as Line & { provenance?: Provenance };
      assertOfSchema('prediction', { provenance, ...document });
      assert.equal(provenance !== undefined, index === 0);
      if (provenance?.surroundings) assert.match(provenance.surroundings.decoder ?? '', /^sharp \d/);
      return document;
    });
}

const JSON_LINES = ['--export-json', '-'] as const;

/** Three pictures, two of them in a folder, and a file that is no picture. */
async function withPictures(place: Workplace): Promise<void> {
  await mkdir(place.path('photos', 'more'), { recursive: true });
  const [red = Buffer.of(), green = Buffer.of(), blue = Buffer.of()] = await coloredPictures(3);
  await place.write('red.png', red);
  await writeFile(place.path('photos', 'green.png'), green);
  await writeFile(place.path('photos', 'more', 'blue.png'), blue);
  await place.write('text.png', 'no picture');
}

describe('predict images', { ...deadline, concurrency: 2 }, () => {
  it('shows classes of files and folders, and the reason of each file without classes', async (t) => {
    const place = await workplace(t);
    await withPictures(place);
    const model = await classifierManifest(place);
    const args = ['predict', 'images', 'red.png', 'text.png', 'photos', '--model', model];
    const ending = await place.run([...args, '--export-csv', 'found.csv', '--batch-size', '3']);
    assert.equal(ending.code, 3, ending.stderr);
    const table = ending.stdout;
    for (const name of ['red.png', 'photos/green.png', 'photos/more/blue.png']) {
      assert.match(table, new RegExp(`│ ${name} +│ +1 │ (${LABELS.join('|')}) +│ +0\\.\\d+ │`));
    }
    assert.match(table, /│ text\.png +│ +│ error: input "text\.png": expected a JPEG, PNG, WebP or GIF/);
    // The first batch has a file that is no picture, so that the model gets its two pictures one by one.
    assert.match(table, /inputs: 4, without a prediction: 1\nbatches: 3, mean times: \d/);
    const csv = (await readFile(place.path('found.csv'), 'utf8')).split('\r\n');
    assert.equal(csv[0], 'input_id,rank,kind,index,label,score,xmin,xmax,ymin,ymax');
    assert.match(csv[1] ?? '', /^red\.png,1,classification,\d,\w+,0\.\d+,,,,$/);
    assert.match(csv[3] ?? '', /^text\.png,,error,,/);
  });

  it('refuses names of files that are not there, before it predicts', async (t) => {
    const place = await workplaceHere(t);
    await withPictures(place);
    const model = await classifierManifest(place);
    const ending = await place.run(['predict', 'images', 'red.png', 'gone.png', '--model', model]);
    assert.equal(ending.code, 2);
    assert.match(ending.stderr, /^gone\.png: expected a picture, found no such file$/m);
    assert.equal(ending.stdout, '');
  });

  it('writes JSON lines that match the published schema, with as many features as asked for', async (t) => {
    const place = await workplaceHere(t);
    await withPictures(place);
    const model = await classifierManifest(place);
    const ending = await place.run([
      ...'predict images red.png text.png --model'.split(' '),
      model,
      '--top',
      '5',
      ...JSON_LINES,
    ]);
    assert.equal(ending.code, 3);
    const [red, text] = linesOf(ending);
    const probabilities = red?.features?.map(({ probability }) => Number(probability)) ?? [];
    assert.equal(probabilities.length, 5);
    assert.ok(Math.abs(probabilities.reduce((sum, value) => sum + value, 0) - 1) < 1e-5);
    assert.deepEqual([text?.input_id, text?.error?.code], ['text.png', 'usage']);
    assert.match(ending.stderr, /│ red\.png/, 'the table');
  });

  it('publishes its predictions where --publish asks for it', async (t) => {
    const place = await workplaceHere(t);
    await withPictures(place);
    const model = await classifierManifest(place);
    const args = ['predict', 'images', 'red.png', 'text.png', 'photos', '--model', model];
    const { code, stderr } = await place.run([...args, '--publish', '--store', 'published']);
    assert.equal(code, 3);
    assert.match(stderr, /^published as the evaluation [0-9a-f]{24}$/m);
    const { stdout } = await place.run(['store', 'info', '--json', '--store', 'published']);
    const { collections } = JSON.parse(stdout) as { collections: readonly { name: string; documents: number }[] };
    const counts = Object.fromEntries(collections.map(({ name, documents }) => [name, documents]));
    assert.deepEqual([counts['evaluation'], counts['performance'], counts['input_prediction']], [1, 1, 4]);
  });

  it('keeps the predictions so far when it is interrupted', async (t) => {
    const place = await workplace(t);
    await withPictures(place);
    const picture = await readFile(place.path('red.png'));
    let asked = 0;
    // The fourth picture never comes.
    const web = createServer((_, response) => ++asked <= 3 && response.end(picture)).listen(0, '127.0.0.1');
    t.after(() => web.close().closeAllConnections());
    await once(web, 'listening');
    const { port } = web.address() as AddressInfo;
    const urls = Array.from({ length: 9 }, (_, i) => `http://127.0.0.1:${port}/${i}.png`);
    const model = await classifierManifest(place);
    const command = place.start(['predict', 'urls', ...urls, '--model', model, '--allow-private-urls', ...JSON_LINES]);
    await until(() => asked === 4);
    command.process.kill('SIGINT');
    const ending = await command.ended;
    assert.equal(ending.code, 130);
    assert.deepEqual(
      linesOf(ending).map(({ input_id: id }) => id),
      urls.slice(0, 3),
    );
    assert.match(ending.stderr, /^interrupted; 3 inputs are done$/m);
  });
});

describe('predict urls', deadline, () => {
  it('does not fetch from this machine unless that is allowed', async (t) => {
    const place = await workplaceHere(t);
    const model = await classifierManifest(place);
    const ending = await place.run(['predict', 'urls', 'http://127.0.0.1:9/a.png', '--model', model, ...JSON_LINES]);
    assert.equal(ending.code, 3);
    assert.match(linesOf(ending)[0]?.error?.message ?? '', /points at this machine or inside of a network/);
  });
});

describe('predict dataset', { ...deadline, concurrency: 2 }, () => {
  it('takes the pictures of a folder below --datasets', async (t) => {
    const place = await workplaceHere(t);
    await withPictures(place);
    await writeFile(place.path('photos', 'damaged.png'), 'no picture');
    const model = await classifierManifest(place);
    const ending = await place.run([...'predict dataset photos --datasets . --model'.split(' '), model, ...JSON_LINES]);
    assert.equal(ending.code, 3, ending.stderr);
    assert.deepEqual(
      linesOf(ending).map(({ input_id: id, error }) => [id, error === undefined]),
      [
        ['damaged.png', false],
        ['green.png', true],
        ['more/blue.png', true],
      ],
    );
  });

  it('makes up inputs', async (t) => {
    const place = await workplaceHere(t);
    const model = await tokensManifest(place);
    const ending = await place.run(['predict', 'dataset', 'synthetic/3', '--model', model, '--batch-size', '2']);
    assert.equal(ending.code, 0, ending.stderr);
    assert.match(ending.stdout, /│ 2 +│ +1 │ logits │ float32 \[2, 3\]: -?\d/);
    assert.match(ending.stdout, /inputs: 3, without a prediction: 0\nbatches: 2, /);
  });
});

describe('predict raw', { ...deadline, concurrency: 2 }, () => {
  /** sin(12.9898 i) for the rows of token 1 (i from 3) and 9 (i from 27), in float32. */
  const LOGITS = [3, 4, 5, 27, 28, 29].map((i) => Math.fround(Math.sin(i * 12.9898)));

  it('gives the logits of tokens', async (t) => {
    const place = await workplaceHere(t);
    const model = await tokensManifest(place);
    const ending = await place.run(['predict', 'raw', '[1, 9]', '--model', model, ...JSON_LINES]);
    assert.equal(ending.code, 0, ending.stderr);
    const feature = { kind: 'raw', name: 'logits', element_type: 'float32', dimensions: [2, 3], values: LOGITS };
    assert.deepEqual(linesOf(ending), [{ input_id: '0', features: [feature] }]);
  });

  it('gives the classes of the last token, of JSON lines and of an array of NumPy’s', async (t) => {
    const place = await workplaceHere(t);
    const model = await tokensManifest(place, [{ row: -1 }, { softmax: {} }, { top_k: { k: 1 } }]);
    await place.write('texts.jsonl', '[0, 1]\n\n{"tokens": [[1, 9]]}\n[11]\n{"words": [1]}\nnonsense\n');
    // numpy.save of numpy.array([1, 9])
    const header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }".padEnd(117) + '\n';
    const npy = Buffer.concat([
      Buffer.from('\x93NUMPY\x01\x00v\x00', 'latin1'),
      Buffer.from(header),
      Buffer.from(BigInt64Array.of(1n, 9n).buffer),
    ]);
    await place.write('tokens.npy', npy);
    const ending = await place.run([
      ...'predict raw texts.jsonl tokens.npy --model'.split(' '),
      model,
      '--batch-size',
      '4',
      ...JSON_LINES,
    ]);
    assert.equal(ending.code, 3, ending.stderr);
    // The highest of each three logits above.
    const classOf = (logits: readonly number[]) => logits.indexOf(Math.max(...logits));
    const shown = linesOf(ending).map(({ input_id: id, features, error }) => {
      return [id, error === undefined ? Number(features?.[0]?.['index']) : error.message] as const;
    });
    assert.deepEqual(shown[0], ['texts.jsonl:1', classOf(LOGITS.slice(0, 3))]);
    assert.deepEqual(shown[1], ['texts.jsonl:3', classOf(LOGITS.slice(3))]);
    assert.match(String(shown[2]?.[1]), /the runtime could not run the graph/);
    assert.match(String(shown[3]?.[1]), /no input is called "words"; the model has "tokens"/);
    assert.match(String(shown[4]?.[1]), /expected a list of numbers for the only input, .* as JSON/);
    assert.deepEqual(shown[5], ['tokens.npy', classOf(LOGITS.slice(3))]);
  });

  it('does not read more of standard input than the limit', async (t) => {
    const place = await workplace(t);
    const args = [MAIN, 'predict', 'raw', '-', '--model', 'zoo:bert_base'];
    const { ended } = place.startProgram('sh', ['-c', `yes '[1]' | "$0" "$@"`, process.execPath, ...args]);
    const { stderr, code } = await ended;
    assert.match(stderr, /standard input has more than 67108864 characters/);
    assert.equal(code, 2);
  });

  it('finds objects by the operators of the manifest, with and without masks', async (t) => {
    const place = await workplaceHere(t);
    const dims = { boxes: [3, 4], scores: [3], classes: [3], masks: [3, 1, 2] } as const;
    await place.write('names.txt', 'nothing\ncat\ndog\n');
    const boxes = { format: 'yxyx', scores: 'scores', classes: 'classes', labels: 'names.txt' };
    const model = await echoManifest(place, 'detector', dims, [{ boxes }, { non_max_suppression: { iou: 0.4 } }]);
    const masked = await echoManifest(place, 'masked', dims, [
      { boxes },
      { instance_masks: { masks: 'masks' } },
      { top_k: { k: 1 } },
    ]);
    const element = JSON.stringify({
      // The first box covers the second and has a higher score: their overlap is 0.5 of the union.
      boxes_in: [
        [0, 0, 0.5, 0.5],
        [0, 0, 0.5, 0.25],
        [0.5, 0.5, 1, 0.75],
      ],
      scores_in: [0.75, 0.625, 0.875],
      classes_in: [1, 1, 2],
      masks_in: [[[0.5, 0.25]], [[0, 0]], [[0, 1]]],
    });
    const ending = await place.run(['predict', 'raw', element, '--model', model, ...JSON_LINES]);
    assert.equal(ending.code, 0, ending.stderr);
    const dog = { index: 2, label: 'dog', probability: 0.875, xmin: 0.5, xmax: 0.75, ymin: 0.5, ymax: 1 };
    const cat = { index: 1, label: 'cat', probability: 0.75, xmin: 0, xmax: 0.5, ymin: 0, ymax: 0.5 };
    const kind = 'bounding_box';
    assert.deepEqual(linesOf(ending)[0]?.features, [
      { kind, ...dog },
      { kind, ...cat },
    ]);
    assert.match(ending.stderr, /│ dog +│ +0\.875 │ x 0\.500 to 0\.750, y 0\.500 to 1\.000/);
    const withMask = linesOf(await place.run(['predict', 'raw', element, '--model', masked, ...JSON_LINES]));
    const mask = [
      [0, 1],
      [1, 1],
    ];
    assert.deepEqual(withMask[0]?.features, [{ kind: 'instance_segment', ...dog, height: 1, width: 2, mask }]);
  });

  it('finds segments, with the share of each class', async (t) => {
    const place = await workplaceHere(t);
    await place.write('names.txt', 'sky\nroad\n');
    const model = await echoManifest(place, 'segmenter', { map: [2, 2, 2] }, [
      { segments: { layout: 'CHW', labels: 'names.txt' } },
    ]);
    // Scores of the sky, then of the road.
    const scores = '[[[0, 0], [0, 9]], [[1, 1], [1, 1]]]';
    const ending = await place.run(['predict', 'raw', scores, '--model', model, ...JSON_LINES]);
    assert.equal(ending.code, 0, ending.stderr);
    const classes = [
      { index: 1, label: 'road', share: 0.75 },
      { index: 0, label: 'sky', share: 0.25 },
    ];
    const mask = [
      [1, 3],
      [0, 1],
    ];
    const feature = { kind: 'semantic_segment', classes, height: 2, width: 2, mask };
    assert.deepEqual(linesOf(ending)[0]?.features, [feature]);
    assert.match(ending.stderr, /│ road +│ +0\.75 │ 75\.0 % of 2 x 2 pixels/);
  });
});

/** Starts a process, and returns the address on which it listens. */
async function addressIn(t: TestContext, place: Workplace, args: readonly string[]): Promise<string> {
  const process = place.start([...args, '--listen', '127.0.0.1:0']);
  t.after(() => process.process.kill('SIGTERM'));
  const [, address = ''] = await process.said(/listening on (127\.0\.0\.1:\d+)/);
  return address;
}

describe('predict on another agent', { ...deadline, concurrency: 2 }, () => {
  it('has an agent predict with a model of its own', async (t) => {
    const place = await workplaceHere(t);
    await withPictures(place);
    const model = await classifierManifest(place);
    const agent = await addressIn(t, place, ['agent', '--models', '.']);
    const args = (name: string) => ['predict', 'images', 'red.png', '--model', name, '--agent', agent, ...JSON_LINES];
    const byName = linesOf(await place.run(args('classifier:^1.0')));
    const byManifest = linesOf(await place.run(args(model)));
    const here = linesOf(await place.run(['predict', 'images', 'red.png', '--model', model, ...JSON_LINES]));
    assert.deepEqual([byName, byManifest], [here, here]);
    const unknown = await place.run(args('classifier:2.0.0'));
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /no model classifier 2\.0\.0/);
  });

  it('warns of made-up weights, and of no others', async (t) => {
    const place = await workplaceHere(t);
    const args = ['predict', 'dataset', 'synthetic/1', '--top', '1', '--quiet', '--model'];
    const named = await place.run([...args, 'zoo:squeezenet1.1', '--export-markdown', '-']);
    assert.equal(named.code, 0, named.stderr);
    assert.match(named.stderr, /^warning: the weights of zoo:squeezenet1\.1 are made up, /);
    assert.match(named.stdout, /the weights of zoo:squeezenet1\.1 are made up/);
    const own = await place.run([...args, await classifierManifest(place)]);
    assert.deepEqual([own.code, own.stderr], [0, '']);
  });

  it('has a server pick the agent', async (t) => {
    const place = await workplaceHere(t);
    const server = await addressIn(t, place, ['serve', '--no-plugins']);
    const args = [...'predict dataset synthetic/2 --model zoo:squeezenet1.1 --server'.split(' '), server, '--top', '1'];
    const none = await place.run(args);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no agent is registered; start one with `mlmodelscope agent --server ADDRESS`/);
    const agent = place.start(['agent', '--listen', '127.0.0.1:0', '--server', server]);
    await agent.said(/registered with/);
    const ending = await place.run([...args, ...JSON_LINES]);
    assert.equal(ending.code, 0, ending.stderr);
    const local = await place.run([...args.slice(0, 5), '--top', '1', ...JSON_LINES], {
      env: { MLMODELSCOPE_SERVER: undefined },
    });
    assert.deepEqual(linesOf(ending), linesOf(local));
  });
});

const OF_NO_MODEL = `dlspec: model/v1
name: net
version: 1.0.0
framework: { name: onnxruntime, version: '*' }
inputs: [{ layer_name: x, element_type: float32, dimensions: [batch, 8] }]
outputs: [{ layer_name: y, element_type: float32, dimensions: [batch, 8] }]
model: { graph_path: zoo:resnet19 }
`;

describe('predict without something that it needs', { ...deadline, concurrency: 2 }, () => {
  const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['a model', ['images', 'red.png'], /required option '--model <model>' not specified/],
    [
      'a manifest',
      ['images', 'red.png', '--model', 'a.onnx'],
      /predicting needs a model manifest \(\.yml\) beside the file; docs\/manifests\.md/,
    ],
    [
      'a known model',
      ['dataset', 'synthetic/1', '--model', 'resnet19'],
      /^no model resnet19; did you mean resnet18\? 'mlmodelscope registry models' lists the models of the platform\n$/,
    ],
    [
      'a model of the zoo',
      ['dataset', 'synthetic/1', '--model', 'zoo:resnet19'],
      /^zoo:resnet19: expected a model of the zoo \('mlmodelscope registry models' lists them\), found .* "zoo:resnet18"\?\)\n$/,
    ],
    [
      'a name in the zoo',
      ['dataset', 'synthetic/1', '--model', 'zoo:ResNet 18'],
      /^zoo:ResNet 18: expected .* or zoo:NAME, found "zoo:ResNet 18"\n$/,
    ],
    [
      'a model of the zoo in its manifest',
      ['dataset', 'synthetic/1', '--model', 'wrong.yml'],
      /^wrong\.yml:7:\d+: model\.graph_path: expected a model of the zoo .* "zoo:resnet18"\?\)\n$/,
    ],
    ['pictures in a folder', ['images', '.', '--model', 'zoo:alexnet'], /\. has no pictures/],
    [
      'a model for pictures',
      ['images', 'red.png', '--model', 'pair.yml'],
      /^pair cannot be given pictures: it has 2 inputs/m,
    ],
    ['elements', ['raw', 'empty.jsonl', '--model', 'zoo:bert_base'], /there are no elements: each line of JSON is one/],
    [
      'one place',
      ['images', 'red.png', '--model', 'm', '--agent', '127.0.0.1:9', '--server', '127.0.0.1:9'],
      /leave one of --agent and --server out/,
    ],
    [
      'its own datasets',
      ['dataset', 'a/b', '--model', 'm', '--agent', '127.0.0.1:9', '--datasets', '.'],
      /--datasets is for an agent that is started here/,
    ],
    [
      '--publish',
      ['images', 'red.png', '--model', 'm', '--store', 'here'],
      /--store is where --publish stores predictions; give both/,
    ],
    ['a batch', ['images', 'red.png', '--model', 'm', '--batch-size', '0'], /expected a whole number from 1 to 1024/],
  ];
  for (const [what, args, message] of mistakes) {
    it(`says so: ${what}`, async (t) => {
      const place = await workplaceHere(t);
      await place.write('empty.jsonl', '\n');
      await place.write('wrong.yml', OF_NO_MODEL);
      await echoManifest(place, 'pair', { one: [2], other: [2] }, [{ softmax: {} }, { top_k: { k: 1 } }]);
      if (args.includes('red.png')) await withPictures(place);
      const { stdout, stderr, code } = await place.run(['predict', ...args]);
      assert.deepEqual([stdout, code], ['', 2], stderr);
      assert.match(stderr, message);
    });
  }
});
