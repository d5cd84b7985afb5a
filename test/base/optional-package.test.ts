import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlatformError } from '../../src/base/errors.js';
import { explainMissing } from '../../src/base/optional-package.js';

async function errorOfImport(specifier: string): Promise<unknown> {
  return import(specifier).then(
    () => assert.fail(`${specifier} is there`),
    (error: unknown) => error,
  );
}

describe('an optional package', () => {
  it('that is missing is an error with the command that installs it', async () => {
    const optional = { feature: 'swimming', packages: ['no-such-pool', '@no-such/water'] };
    const explained = explainMissing(await errorOfImport('@no-such/water'), optional);
    assert.ok(explained instanceof PlatformError);
    assert.equal(explained.code, 'unsupported');
    assert.equal(
      explained.message,
      'swimming needs packages that are not installed; run: npm install no-such-pool @no-such/water',
    );
  });

  it('is not blamed for another error', async () => {
    const optional = { feature: 'swimming', packages: ['no-such-pool'] };
    for (const error of [await errorOfImport('no-such-boat'), new Error("the water is cold: 'no-such-pool'")]) {
      assert.equal(explainMissing(error, optional), error);
    }
  });
});
