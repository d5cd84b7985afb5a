import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseModel } from '../../../src/onnx/read/read-model.js';
import { CONTROL_FLOW } from '../../onnx/control-flow.js';
import { measuredBricks } from '../support/measured-bricks.js';
import { agentForSuite } from '../support/running-agent.js';

describe('a model with constants in its subgraphs, at the kernel cut', { timeout: 300_000 }, () => {
  const agent = agentForSuite();

  for (const [operator, bytes] of Object.entries(CONTROL_FLOW)) {
    test(`is optimized, cut and measured: ${operator}`, async () => {
      const { bricks, outcomes } = await measuredBricks(agent().client, parseModel(bytes, operator), 'kernel');
      assert.ok(bricks.some(({ operators }) => operators.includes(operator)));
      // The whole model, and each brick.
      assert.deepEqual(outcomes, ['samples', ...bricks.map(() => 'samples')]);
    });
  }
});
