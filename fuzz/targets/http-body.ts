import { predictionSchema, encodeFiles, submissionSchema } from '../../src/server/http/api.js';
import { parsedBody } from '../../src/server/http/operation.js';
import { mutatedJson } from './json-target.js';
import { readOrRefused, type Target } from './target.js';

const MANIFEST = { dlspec: 'evaluation/v1', name: 'tiny', version: '1.0.0', models: ['a.onnx'], batch_size: 2 };

const SEEDS = [
  ['submission', { id: 'some-id-0123', manifest: MANIFEST, files: [{ path: 'a.onnx', base64: 'CAgSBHRlc3Q=' }] }],
  ['prediction', { model: 'classifier', agent: '127.0.0.1:7070', picture: 'iVBORw0KGgo=' }],
] as const;

function receive(text: string): void {
  if (text.startsWith('p')) parsedBody(text.slice(1), predictionSchema);
  else encodeFiles(parsedBody(text.slice(1), submissionSchema));
}

/** Bodies of requests to the API over HTTP. The first letter says of which call. */
export const httpBody: Target = {
  name: 'http-body',
  seeds: () => Promise.resolve(SEEDS.map(([call, body]) => Buffer.from(`${call.charAt(0)}${JSON.stringify(body)}`))),
  mutate(input, random) {
    return Buffer.concat([input.subarray(0, 1), mutatedJson(input.subarray(1), random)]);
  },
  check: (input) => readOrRefused(() => receive(Buffer.from(input).toString()), ''),
};
