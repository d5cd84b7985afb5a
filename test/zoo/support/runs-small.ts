import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bindDimensions } from '../../../src/onnx/layers/bind-dimensions.js';
import { GraphBuilder } from '../../../src/zoo/builder.js';
import { measuredBricks } from '../../agent/support/measured-bricks.js';
import { agentForSuite } from '../../agent/support/running-agent.js';

/** An architecture that is made as small as possible. */
export interface SmallNetwork {
  readonly define: (graph: GraphBuilder) => void;
  readonly dimensions?: Readonly<Record<string, number>>;
}

/** Small architectures load and run in the real runtime, and so does each of their bricks at these cuts. */
export function runsSmall(
  title: string,
  networks: Readonly<Record<string, SmallNetwork>>,
  cuts: readonly ('layer' | 'kernel')[] = ['layer', 'kernel'],
): void {
  describe(title, { timeout: 600_000 }, () => {
    const agent = agentForSuite();
    for (const [name, { define, dimensions = {} }] of Object.entries(networks)) {
      for (const cut of cuts) {
        test(`${name} runs, whole and as bricks of the ${cut} cut`, async () => {
          const builder = new GraphBuilder(name, 1);
          define(builder);
          const sizes = new Map(Object.entries({ batch: 1, ...dimensions }));
          const model = bindDimensions(builder.finish(`zoo:${name}`), sizes, { batch: 1 });
          const { bricks, outcomes } = await measuredBricks(agent().client, model, cut);
          assert.ok(bricks.length > 0);
          assert.deepEqual([...new Set(outcomes)], ['samples']);
        });
      }
    }
  });
}
