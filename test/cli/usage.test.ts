import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { type Workplace } from './support/command.js';
import { assertOneMessage } from './support/report.js';
import { chain, TINY_EVALUATION } from './support/tiny-models.js';
import { workplaceHere } from './support/workplace-here.js';

interface Mistake {
  readonly args: readonly string[];
  readonly says: RegExp;
  readonly code: number;
  /** Makes the files that the arguments refer to. */
  readonly given?: (place: Workplace) => Promise<unknown>;
}

const validate = (...args: readonly string[]): readonly string[] => ['dlbricks', 'validate', ...args];
const MODEL = 'model.onnx';
const withModel = (place: Workplace): Promise<string> => place.write(MODEL, chain(['Relu']));
const withFixedBatch = (place: Workplace): Promise<string> => place.write(MODEL, chain(['Relu'], [1, 8]));
const withSymbol = (place: Workplace): Promise<string> => place.write(MODEL, chain(['Relu'], ['batch', 'sequence']));

const twoDocuments = (command: readonly string[], option: string): Mistake => ({
  args: [...command, '--server', '127.0.0.1:1', '--json', option, '-'],
  says: /^standard output has the document of --json already; name a file for the export, or leave --json out$/m,
  code: 2,
});

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'no arguments': { args: [], says: /^Usage: mlmodelscope/, code: 2 },
  'no subcommand': { args: ['dlbricks'], says: /^Usage: mlmodelscope dlbricks/, code: 2 },
  'an unknown command': { args: ['agnet'], says: /unknown command 'agnet'\n\(Did you mean agent\?\)/, code: 2 },
  'an unknown subcommand': {
    args: ['dlbricks', 'validat'],
    says: /unknown command 'validat'\n\(Did you mean validate\?\)/,
    code: 2,
  },
  'an unknown option': {
    args: validate(MODEL, '--thread', '2'),
    says: /unknown option '--thread'\n\(Did you mean --threads\?\)/,
    code: 2,
  },
  'no model': { args: validate(), says: /missing required argument 'model'/, code: 2 },
  'two models to compare, without sides': {
    args: ['compare', MODEL, 'other.onnx'],
    says: /^model\.onnx is a model: name two sides before it, as in default threads=2 -- model\.onnx$/m,
    code: 2,
  },
  'a file to compare that is not JSON': {
    args: ['compare', 'report.json', 'report.json'],
    says: /^report\.json: not a readable report \([^\p{Cc}]*\); 'dlbricks run', 'validate' and 'compose' write one/mu,
    code: 2,
    given: (place) => place.write('report.json', '\u0000\n\u001b[31m'),
  },
  'a log whose name is not that of a log': {
    args: ['latency', MODEL, '--log', 'log.json'],
    says: /^error: option '--log <file>' argument 'log\.json' is invalid\. name a file that ends in \.yml$/m,
    code: 2,
    given: withModel,
  },
  'a report to import into a store': {
    args: ['store', 'import', 'report.json'],
    says: /^report\.json:1: expected \{"format":"mlmodelscope-store","version":\d+\}, as "store export" writes it$/m,
    code: 2,
    given: (place) => place.write('report.json', '{\n  "models": []\n}\n'),
  },
  'an option behind the models': {
    args: ['compare', 'threads=1', 'default', '--', MODEL, '--rounds', '3'],
    says: /^--rounds is behind --, where models are named; write options before --$/m,
    code: 2,
    given: withModel,
  },
  'an agent without a port': {
    args: validate(MODEL, '--agent', 'localhost'),
    says: /^the address of the agent is "localhost"; expected HOST:PORT, for example 127\.0\.0\.1:7070 or \[::1\]:7070$/m,
    code: 2,
    given: withModel,
  },
  'no output folder': { args: ['dlbricks', 'generate', MODEL], says: /'-o, --output <folder>' not specified/, code: 2 },
  'neither evaluation nor suite': {
    args: ['dlbricks', 'run'],
    says: /^Name a model \(zoo:resnet18, my\.onnx\), a manifest, or --suite FOLDER\.$/m,
    code: 2,
  },
  'a model and a suite': {
    args: ['dlbricks', 'run', MODEL, '--suite', 'suite'],
    says: /^--suite measures the bricks of a suite, and no models; leave out --suite or model\.onnx$/m,
    code: 2,
  },
  'an export without a name': {
    args: ['dlbricks', 'run', MODEL, '--export-json', ''],
    says: /^the name of an output file is empty; name a file$/m,
    code: 2,
    given: withModel,
  },
  'a folder as the name of an export': {
    args: ['dlbricks', 'run', MODEL, '--export-svg', 'folder'],
    says: /^folder is a folder; name a file$/m,
    code: 2,
    given: async (place) => {
      await withModel(place);
      await mkdir(place.path('folder'));
    },
  },
  'a folder that is not there as the name of an export': {
    args: ['dlbricks', 'run', MODEL, '--export-csv', 'folder/'],
    says: /^folder\/ is a folder; name a file$/m,
    code: 2,
    given: withModel,
  },
  'a suite without a name': {
    args: ['dlbricks', 'generate', MODEL, '-o', ''],
    says: /^--output: the name is empty; name a folder$/m,
    code: 2,
    given: withModel,
  },
  'models to shorten at the layer cut': {
    args: validate(MODEL, '--cut', 'layer', '--shorten', 'always'),
    says: /^shorten: always cannot be used with cut: layer, .*; leave one of them out$/m,
    code: 2,
    given: withModel,
  },
  'a precision of the layer cut alone': {
    args: ['dlbricks', 'run', 'evaluation.yml'],
    says: /^target_error: 3 cannot be used with cut: layer, .*; leave one of them out$/m,
    code: 2,
    given: async (place) => {
      await place.write('net.onnx', chain(['Relu']));
      const settings = { ...TINY_EVALUATION.settings, cut: 'layer', target_error: 3 };
      await place.write('evaluation.yml', JSON.stringify({ ...TINY_EVALUATION, settings }));
    },
  },
  'neither model nor recipe': { args: ['dlbricks', 'compose'], says: /models or --recipe/, code: 2 },
  'no threads': {
    args: validate(MODEL, '--threads', '0'),
    says: /--threads <n,\.\.\.>' argument '0' is invalid. expected a whole number from 1 to 1024/,
    code: 2,
  },
  'a granularity that is no number': {
    args: validate(MODEL, '-G', 'x'),
    says: /--granularity <n,\.\.\.>' argument 'x' is invalid. expected a whole number from 1/,
    code: 2,
  },
  'a negative batch': { args: validate(MODEL, '--batch', '-1'), says: /expected a whole number from 1/, code: 2 },
  'a fraction of a run': { args: validate(MODEL, '--runs', '1.5'), says: /expected a whole number from 1/, code: 2 },
  'a warm-up that is no number': { args: validate(MODEL, '--warmup', ''), says: /expected a whole number/, code: 2 },
  'an unknown cut': { args: validate(MODEL, '--cut', 'diagonal'), says: /expected kernel or layer, or both/, code: 2 },
  'a dimension without a size': {
    args: validate(MODEL, '--dimension', 'sequence'),
    says: /expected NAME=VALUE, for example sequence=128/,
    code: 2,
  },
  'an input without values': {
    args: validate(MODEL, '--input', 'mask'),
    says: /expected NAME=VALUE, for example lengths=127/,
    code: 2,
  },
  'an input that no model has': {
    args: validate(MODEL, '--input', 'mask=1'),
    says: /--input mask: none of the models has an input of this name; they have/,
    code: 2,
    given: withModel,
  },
  'a batch given as a dimension': { args: validate(MODEL, '--dimension', 'batch=2'), says: /--batch/, code: 2 },
  'a dimension that no model has': {
    args: validate(MODEL, '--dimension', 'length=4', '--dimension', 'sequence=4'),
    says: /--dimension length: none of the models .* they have batch, sequence/,
    code: 2,
    given: withSymbol,
  },
  'a dimension without a known size': {
    args: validate(MODEL),
    says: /model\.onnx: .*is not known: "sequence".* --dimension sequence=SIZE/,
    code: 2,
    given: withSymbol,
  },
  'several dimensions without known sizes': {
    args: ['trace', 'model', MODEL],
    says: /sizes of dimensions are not known: "rows" .*, "columns" .*--dimension rows=SIZE --dimension columns=SIZE/,
    code: 2,
    given: (place) => place.write(MODEL, chain(['Relu'], ['batch', 'rows', 'columns'])),
  },
  'a dimension that a traced model does not have': {
    args: ['trace', 'model', MODEL, '--dimension', 'length=4', '--store', 'memory:'],
    says: /--dimension length: none of the models .* they have batch/,
    code: 2,
    given: withModel,
  },
  'a model where an evaluation was meant': {
    args: ['evaluate', 'model.yml'],
    says: /found "model\/v1" \(`mlmodelscope dlbricks run` and `mlmodelscope latency` take models\)/,
    code: 2,
    given: (place) => place.write('model.yml', 'dlspec: model/v1\n'),
  },
  'a model file where an evaluation was meant': {
    args: ['evaluate', MODEL],
    says: /^model\.onnx: expected an evaluation manifest \(\.yml\), found a model \(`mlmodelscope dlbricks run` and/,
    code: 2,
    given: withModel,
  },
  'a model of the zoo where an evaluation was meant': {
    args: ['evaluate', 'zoo:resnet18'],
    says: /^zoo:resnet18: expected an evaluation manifest .*`mlmodelscope latency` take models/,
    code: 2,
  },
  'a server where an agent was meant': {
    args: ['dlbricks', 'run', MODEL, '--server', '127.0.0.1:7070'],
    says: /--server names the platform's server, as in 'mlmodelscope evaluate'; name the agent with --agent/,
    code: 2,
  },
  'an evaluation with mistakes among models': {
    args: ['dlbricks', 'run', 'evaluation.yml', 'zoo:resnet18'],
    says: /evaluation\.yml:1:1: models: expected a list, found nothing/,
    code: 2,
    given: (place) => place.write('evaluation.yml', 'dlspec: evaluation/v1\n'),
  },
  'an evaluation where a model was meant': {
    args: validate('evaluation.yml'),
    says: /one of kind evaluation .*`mlmodelscope dlbricks run` and `mlmodelscope evaluate` take evaluations/,
    code: 2,
    given: (place) => place.write('evaluation.yml', 'dlspec: evaluation/v1\n'),
  },
  'an evaluation where a model to time was meant': {
    args: ['latency', 'evaluation.yml'],
    says: /one of kind evaluation .*`mlmodelscope dlbricks run` and `mlmodelscope evaluate` take evaluations/,
    code: 2,
    given: (place) => place.write('evaluation.yml', 'dlspec: evaluation/v1\n'),
  },
  'a manifest that only evaluations refer to': {
    args: ['latency', 'hardware.yml'],
    says: /evaluation manifests refer to it by their key `hardware`/,
    code: 2,
    given: (place) => place.write('hardware.yml', 'dlspec: hardware/v1\n'),
  },
  '--remeasure for a command that a server runs': {
    args: ['evaluate', 'evaluation.yml', '--remeasure', 'all'],
    says: /write settings: \{ remeasure: all \} into the manifest/,
    code: 2,
  },
  'a percentile that does not exist': {
    args: ['latency', MODEL, '--percentiles', '50,100'],
    says: /numbers above 0 and below 100, as in 50,90,99\.9/,
    code: 2,
  },
  'a list of batches with a hole': {
    args: ['dlbricks', 'run', MODEL, '--batch', '1,,2'],
    says: /--batch <n,\.\.\.>' argument '1,,2' is invalid. expected a whole number from 1/,
    code: 2,
  },
  'a batch that the model does not take': {
    args: validate(MODEL, '--batch', '2'),
    says: /model\.onnx: .*batch is fixed at 1.*cannot be 2/,
    code: 2,
    given: withFixedBatch,
  },
  'a missing file': { args: validate('none.onnx'), says: /^none\.onnx: expected an ONNX file, found no such/, code: 2 },
  'a missing manifest': { args: validate('none.yml'), says: /^none\.yml:1:1: .*found no such file/, code: 2 },
  'a folder for a model': {
    args: validate(MODEL),
    says: /^model\.onnx: expected an ONNX file, found a folder/,
    code: 2,
    given: (place) => mkdir(place.path(MODEL)),
  },
  'a file of another kind': {
    args: validate('model.pb'),
    says: /^model\.pb: expected a model manifest \(\.yml\), an ONNX file \(\.onnx\) or zoo:NAME/,
    code: 2,
  },
  'a file that is not what its name says': {
    args: validate(MODEL),
    says: /^model\.onnx is not an ONNX file/,
    code: 2,
    given: (place) => place.write(MODEL, 'hello'),
  },
  'a truncated file': {
    args: validate(MODEL),
    says: /^model\.onnx .*truncated/,
    code: 2,
    given: (place) => place.write(MODEL, chain(['Relu', 'Tanh']).slice(0, 60)),
  },
  'an unknown zoo model': {
    args: validate('zoo:resnet81'),
    says: /^zoo:resnet81: expected a model of the zoo .*did you mean "zoo:resnet18"\?/,
    code: 2,
  },
  'an unknown name in the zoo command': { args: ['zoo', 'alexnt'], says: /Did you mean alexnet\?/, code: 2 },
  'an address without a port': { args: ['agent', '--listen', 'localhost'], says: /expected HOST:PORT/, code: 2 },
  'an address that others reach, without TLS and a token': {
    args: ['agent', '--listen', '192.0.2.1:7070'],
    says: /^192\.0\.2\.1 can be reached from other machines, which needs TLS .* and a token .*; or listen on 127\.0\.0\.1$/m,
    code: 2,
  },
  'a store of an unknown kind': {
    args: validate(MODEL, '--store', 'redis://localhost'),
    says: /no backend for redis:\/\/.* Accepted: /,
    code: 2,
    given: withModel,
  },
  'two documents on standard output': twoDocuments(['evaluate', 'evaluation.yml'], '--export-json'),
  'two documents of a stored evaluation': twoDocuments(['evaluations', 'show', 'latest'], '--export-json'),
  'a document and a table on standard output': twoDocuments(['evaluations', 'follow', 'latest'], '--export-csv'),
  'a folder that is no suite': { args: ['dlbricks', 'run', '--suite', '.'], says: /a suite is a folder with/, code: 2 },
  'results, whose system is known, and a system': {
    args: ['dlbricks', 'compose', MODEL, '--results', 'r.json', '--system', 'abcd'],
    says: /^--results has the measurements and their system; leave --system out$/m,
    code: 2,
    given: withModel,
  },
  'a store for two sides that are measured': {
    args: ['compare', 'threads=1', 'default', '--store', 'store', '--', MODEL],
    says: /^--store is for sides such as store#3fa9c2e1$/m,
    code: 2,
    given: withModel,
  },
  'a full device to export a store to': {
    args: ['store', 'export', '/dev/full', '--store', 'memory:'],
    says: /^\/dev\/full cannot be written: ENOSPC.*; name another file, or make room$/m,
    code: 1,
  },
  'an option before its command': {
    args: ['--store', 'x', 'latency', MODEL],
    says: /^error: unknown option '--store'\n.*the options of a command follow its name\)$/m,
    code: 2,
  },
  'an annotated graph on standard output': {
    args: ['trace', 'model', MODEL, '--annotate', '-'],
    says: /^--annotate writes an ONNX file; name a file for it$/m,
    code: 2,
    given: withModel,
  },
  'a file as a store': {
    args: ['latency', MODEL, '--store', MODEL],
    says: /^The store .* cannot be opened: a part of that path is a file: choose another place with --store\.$/m,
    code: 2,
    given: withModel,
  },
  'a missing recipe': { args: ['dlbricks', 'compose', '--recipe', 'r.json'], says: /not a readable recipe/, code: 2 },
  'missing results': {
    args: ['dlbricks', 'compose', MODEL, '--results', 'r.json'],
    says: /not a readable results file/,
    code: 2,
    given: withModel,
  },
  'a report where a recipe was meant': {
    args: ['dlbricks', 'compose', '--recipe', 'report.json'],
    says: /^report\.json: expected a recipe, found a document with the keys "system", "models"; 'dlbricks generate' writes/,
    code: 2,
    given: (place) => place.write('report.json', '{"system":{},"models":[]}'),
  },
  'a recipe where results were meant': {
    args: ['dlbricks', 'compose', MODEL, '--results', 'recipe.json'],
    says: /^recipe\.json: expected a results file, found a document of the format "dlbricks-recipe\/2"; 'dlbricks run/,
    code: 2,
    given: async (place) => {
      await withModel(place);
      await place.write('recipe.json', '{"format":"dlbricks-recipe/2"}');
    },
  },
  'a system without measurements in the store': {
    args: ['dlbricks', 'compose', MODEL, '--system', 'abc', '--store', 'memory:'],
    says: /--system abc: the store has no measurements at all/,
    code: 2,
    given: withModel,
  },
  'a granularity for bricks that are already cut': {
    args: ['dlbricks', 'run', '--suite', '.', '-G', '2'],
    says: /--granularity cannot be used with --suite/,
    code: 2,
  },
};

describe('a mistake on the command line', { timeout: 600_000, concurrency: 2 }, () => {
  for (const [name, { args, says, code, given }] of Object.entries(MISTAKES)) {
    it(`gets one message that says what to do: ${name}`, async (t) => {
      const place = await workplaceHere(t);
      await given?.(place);
      const ending = await place.run(args);
      assert.match(ending.stderr, says);
      assert.equal(ending.code, code);
      assertOneMessage(ending);
    });
  }
});
