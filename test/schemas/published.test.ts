import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { SESSION_KEYS } from '../../src/measurement/runtime-settings.js';
import { load } from 'js-yaml';
import { z } from 'zod';
import { provenanceSchema } from '../../src/agent/provenance.js';
import { PUBLISHED, SCHEMAS_FOLDER, schemaText } from './published.js';
import { assertOfSchema } from './validator.js';

const ROOT = join(SCHEMAS_FOLDER, '..');
const MANIFESTS = join(ROOT, 'manifests');

/** The keys of the documents that a schema describes. */
function keysIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysIn);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === 'properties' ? [...Object.keys(value as object), ...Object.values(value as object).flatMap(keysIn)] : keysIn(value),
  );
}

function kindOf(manifest: unknown): string {
  const { dlspec } = manifest as { readonly dlspec: string };
  return `${dlspec.replace('/v1', '')}-manifest`;
}

/** The names that the runtime itself gives to keys of its session. */
const OF_THE_RUNTIME: ReadonlySet<string> = new Set(SESSION_KEYS);

describe('the published schemas', () => {
  it('are those of the code; `make schema` writes them', () => {
    const files = readdirSync(SCHEMAS_FOLDER);
    assert.deepEqual(files.toSorted(), [...PUBLISHED.keys()].map((name) => `${name}.schema.json`).toSorted());
    for (const [name, schema] of PUBLISHED) {
      assert.equal(readFileSync(join(SCHEMAS_FOLDER, `${name}.schema.json`), 'utf8'), schemaText(schema), name);
    }
  });

  it('have keys in snake_case only', () => {
    for (const [name, schema] of PUBLISHED) {
      assert.deepEqual(
        keysIn(schema).filter((key) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(key) && !OF_THE_RUNTIME.has(key)),
        [],
        name,
      );
    }
  });

  it('fit the manifests that come with the platform, whose first line names their schema for editors', () => {
    const files = readdirSync(MANIFESTS, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yml'));
    assert.ok(files.length > 20);
    for (const file of files) {
      const text = readFileSync(join(MANIFESTS, file), 'utf8');
      const manifest = load(text);
      assertOfSchema(kindOf(manifest), manifest);
      const schema = `${kindOf(manifest)}.schema.json`;
      const line = `# yaml-language-server: $schema=${relative(dirname(join(MANIFESTS, file)), join(SCHEMAS_FOLDER, schema))}\n`;
      assert.ok(text.startsWith(line), file);
    }
  });

  it('fit the examples of docs/manifests.md', () => {
    const examples = [...readFileSync(join(ROOT, 'docs/manifests.md'), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)];
    // Older model manifests have no schema.
    const manifests = examples.map(([, yaml = '']) => load(yaml) as object).filter((manifest) => 'dlspec' in manifest);
    assert.ok(manifests.length > 0);
    for (const manifest of manifests) assertOfSchema(kindOf(manifest), manifest);
  });

  it('have a provenance in every document of results; all others are named here with their reason', () => {
    const without: Readonly<Record<string, string>> = {
      agents: 'a list of what there is',
      models: 'a list of what there is',
      evaluations: 'a list of what there is',
      evaluation: 'has a document of results',
      store: 'a list of what there is',
      log: 'has tool, host, stack, manifests and time as parts of its own',
      measurement: 'has its system, its protocol and its time',
      'store-export-line': 'a line of a store',
      suite: 'is given away without a trace of models and owners',
      recipe: 'is no result',
      findings: 'is about a machine or about another document',
    };
    const provenance = JSON.stringify(z.toJSONSchema(provenanceSchema).properties);
    for (const [name, schema] of PUBLISHED) {
      const has = JSON.stringify(schema).includes(provenance);
      assert.equal(has, !(name in without) && !name.endsWith('-manifest'), name);
    }
  });

  it("refuse other settings of a known plugin, also another plugin's, and accept any settings of an unknown plugin", () => {
    const manifest = { dlspec: 'evaluation/v1', name: 'a', version: '1.0.0', models: ['zoo:resnet18'] };
    assertOfSchema('evaluation-manifest', { ...manifest, settings: { cut: 'layer' } });
    assertOfSchema('evaluation-manifest', { ...manifest, plugin: 'latency', settings: { percentiles: [50] } });
    assertOfSchema('evaluation-manifest', { ...manifest, plugin: 'depth', settings: { deep: 1 } });
    for (const wrong of [
      { settings: { percentiles: [50] } },
      { settings: { cut: 'layer', deep: 1 } },
      { plugin: 'latency', settings: { cut: 'layer' } },
      { plugin: 'latency', settings: { percentiles: [50], deep: 1 } },
    ]) {
      assert.throws(() => assertOfSchema('evaluation-manifest', { ...manifest, ...wrong }), /additionalProperties/);
    }
  });
});
