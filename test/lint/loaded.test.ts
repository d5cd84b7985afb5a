import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

/** The compiled program. */
const COMPILED = join(import.meta.dirname, '../..');

const IMPORT = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm;

/** All modules and packages that a module loads when it starts. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    const name = relative(COMPILED, file);
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (from.startsWith('.')) visit(join(dirname(file), from));
      else loaded.add(from);
    }
  };
  visit(join(COMPILED, entry));
  return loaded;
}

/** What takes long to load, and short commands and each process that measures do not need. */
const CASES: readonly [entry: string, without: RegExp][] = [
  ['src/predictor/onnxruntime/predictor.js', /^zod$/],
  ['src/predictor/onnxruntime-web/predictor.js', /^zod$/],
  ['src/agent/worker/worker.js', /^(zod|@grpc\/.*|lmdb)$/],
  ['src/agent/jobs/predict-session.js', /^(zod|sharp)$/],
  ['src/cli/main.js', /^(@grpc\/.*|lmdb|onnxruntime-.*|src\/(onnx|zoo|predictor|store\/embedded)\/.*)$/],
  ['src/cli/commands/store.js', /^(@grpc\/.*|onnxruntime-.*|src\/(onnx|zoo|predictor|registry|agent)\/.*)$/],
];

for (const [entry, without] of CASES) {
  test(`${entry} starts without what it does not need`, () => {
    const loaded = [...loadedBy(entry)];
    assert.ok(loaded.length > 10, `only ${loaded.length} modules are found`);
    assert.deepEqual(
      loaded.filter((name) => without.test(name)),
      [],
    );
  });
}
