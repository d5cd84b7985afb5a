import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reportSchema } from '../../plugins/dlbricks/report/report-schema.js';
import { onnxRuntimePredictor } from '../../src/predictor/onnxruntime/predictor.js';
import { loadModel } from '../../src/registry/load-model.js';
import { generate } from './generate.js';

// `make bench-generation`: a decoder of the zoo generates tokens. Given an export of `dlbricks run` for an evaluation
// with `generation`, it prints the estimates beside the measured times.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'llama_1b' },
    prompt: { type: 'string', default: '128' },
    tokens: { type: 'string', default: '64' },
    threads: { type: 'string', default: '1' },
  },
});
const [prompt, tokens, threads] = [values.prompt, values.tokens, values.threads].map(Number) as [
  number,
  number,
  number,
];

function beside(title: string, measuredMs: number, estimates: readonly (number | null | undefined)[]): string {
  const [ms, low, high] = estimates;
  const measured = `${title}: ${measuredMs.toFixed(1)} ms`;
  if (ms === null || ms === undefined) return measured;
  const error = ((ms / measuredMs - 1) * 100).toFixed(1);
  const interval =
    typeof low === 'number' && typeof high === 'number' ? `, ${low.toFixed(1)} to ${high.toFixed(1)}` : '';
  return `${measured}; estimated ${ms.toFixed(1)} ms${interval}: ${error} %`;
}

const temporaryFolder = await mkdtemp(join(tmpdir(), 'generation-'));
try {
  const prefill = await loadModel(`zoo:${values.model}_prefill`, {
    batch: 1,
    dimensions: new Map([['sequence', prompt]]),
  });
  const decode = await loadModel(`zoo:${values.model}_decode`, { batch: 1, dimensions: new Map([['past', prompt]]) });
  const words = Array.from({ length: prompt }, (_, index) => index + 1);
  const environment = { predictor: onnxRuntimePredictor(), threads, temporaryFolder };
  const generated = await generate(prefill, decode, words, tokens, environment);
  const further = generated.furtherTokensMs.reduce((sum, ms) => sum + ms, 0);
  const [file] = positionals;
  const report = file === undefined ? undefined : reportSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const estimate = report?.generations.find((one) => {
    return one.model === values.model && one.prompt === prompt && one.tokens === tokens;
  });
  const first = [estimate?.first_token_ms, estimate?.first_token_low_ms, estimate?.first_token_high_ms];
  const others = [estimate?.further_tokens_ms, estimate?.further_tokens_low_ms, estimate?.further_tokens_high_ms];
  console.log(beside(`${values.model}: first token after ${prompt} of prompt`, generated.firstTokenMs, first));
  console.log(beside(`${values.model}: ${tokens - 1} further tokens`, further, others));
} finally {
  await rm(temporaryFolder, { recursive: true, force: true });
}
