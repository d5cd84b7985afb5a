import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsInWords } from '../../../../plugins/dlbricks/report/configuration.js';

test('models of short kernels have fewer sequences than kernels', () => {
  const cut = { cut: 'kernel', granularity: 1 } as const;
  const words = (kernels: number): string => partsInWords('99 layers', { sequences: 12, unique: 5, kernels }, [cut]);
  assert.equal(words(12), '99 layers, run as 12 kernels; 5 different ones (bricks)');
  assert.equal(words(90), '99 layers, run as 90 kernels in 12 sequences; 5 different ones (bricks)');
  // A report of an earlier version does not say how many kernels a model has.
  assert.equal(words(0), '99 layers, run as 12 kernels; 5 different ones (bricks)');
});
