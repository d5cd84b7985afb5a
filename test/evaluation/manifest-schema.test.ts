import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { manifestJsonSchema } from '../../src/evaluation/manifest-schema.js';

interface Schema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

describe("the schema of a plugin's manifests", () => {
  it('is the schema of all evaluations, with the plugin and its settings', () => {
    const settings = z.strictObject({ depth: z.int() });
    const { required, properties } = manifestJsonSchema({ name: 'deep', settings }) as Schema;
    assert.deepEqual(properties['plugin'], { const: 'deep' });
    assert.deepEqual(Object.keys((properties['settings'] as Schema).properties), ['depth']);
    assert.ok(required.includes('models'));
    assert.equal(properties['matrix'], undefined);
  });

  it('has the matrix of a plugin whose settings have one', () => {
    const settings = z.strictObject({ matrix: z.strictObject({ threads: z.array(z.int()) }).optional() });
    const { properties } = manifestJsonSchema({ name: 'deep', settings }) as Schema;
    assert.deepEqual(Object.keys((properties['matrix'] as Schema).properties), ['threads']);
  });
});
