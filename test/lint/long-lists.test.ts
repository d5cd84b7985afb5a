import { Linter } from 'eslint';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

const { default: configuration } = (await import(join(import.meta.dirname, '../../../eslint.config.js'))) as {
  readonly default: readonly Linter.Config[];
};

const NAME = 'no-restricted-syntax';

test('lists as arguments of a call are found where they may be long', () => {
  const setting = configuration.find(({ rules }) => rules?.[NAME] !== undefined)?.rules?.[NAME];
  assert.ok(setting !== undefined);
  const finds = (code: string): boolean => {
    const messages = new Linter({ configType: 'flat' }).verify(code, [{ rules: { [NAME]: setting } }]);
    for (const { ruleId, message } of messages) assert.equal(ruleId, NAME, message);
    return messages.length > 0;
  };
  for (const code of ['Math.max(...list)', 'Math.min(0, ...list)', 'a.b.push(...list)', 'a.unshift(...list)']) {
    assert.ok(finds(code), code);
  }
  for (const code of ['Math.max(a, b)', 'a.push([...list])', 'a.push({ ...one })', 'run(...request)']) {
    assert.ok(!finds(code), code);
  }
});
