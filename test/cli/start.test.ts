import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deadline, workplace } from './support/command.js';

describe('the start of a command', deadline, () => {
  it('loads no driver of a server that it does not use, which would take a quarter of the time', async (t) => {
    const place = await workplace(t);
    const { stdout, stderr } = await place.run(['--version'], { env: { NODE_DEBUG: 'module' } });
    assert.match(stdout, /^\d+\.\d+\.\d+/);
    assert.match(stderr, /node_modules\/commander\//, 'the modules that are loaded are listed');
    assert.doesNotMatch(stderr, /node_modules\/(mongodb|sharp|onnxruntime-\w+|@opentelemetry)\//);
  });
});
