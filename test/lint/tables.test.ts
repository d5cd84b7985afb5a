import { Linter, type Rule } from 'eslint';
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import ts from 'typescript';
import tseslint from 'typescript-eslint';
import { temporaryFolder } from '../store/temporary-folder.js';

const { tables } = (await import(join(import.meta.dirname, '../../../lint/tables.js'))) as {
  readonly tables: Rule.RuleModule;
};

/** With the declarations of the language alone: those of browsers and of Node take seconds to read. */
const OPTIONS: ts.CompilerOptions = { strict: true, noEmit: true, lib: ['lib.es2015.d.ts'], types: [] };

/** Reads the language's own declarations once for all programs. */
const host = ts.createCompilerHost(OPTIONS);
const read = host.getSourceFile.bind(host);
const declarations = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (file, version) => {
  const source = declarations.get(file) ?? read(file, version);
  if (file.endsWith('.d.ts')) declarations.set(file, source);
  return source;
};

/** Number of findings of the rule in code that has a `table`, a text `name`, and a number `index`. */
async function findsIn(t: TestContext, code: string): Promise<number> {
  const path = join(await temporaryFolder(t), 'code.ts');
  const declared = 'declare const table: any; declare const name: string; declare const index: number;';
  const text = `${declared}\nexport const found = ${code};\n`;
  await writeFile(path, text);
  const programs = [ts.createProgram([path], OPTIONS, host)];
  const messages = new Linter({ configType: 'flat', cwd: join(path, '..') }).verify(
    text,
    [
      {
        files: ['**/*.ts'],
        languageOptions: { parser: tseslint.parser, parserOptions: { programs } },
        plugins: { tables: { rules: { tables } } },
        rules: { 'tables/tables': 'error' },
      },
    ],
    { filename: path },
  );
  for (const { ruleId, message } of messages) assert.equal(ruleId, 'tables/tables', message);
  return messages.length;
}

describe('the rule against tables with inherited names', { timeout: 60_000 }, () => {
  const found = [
    'table[name]',
    '(table[name] = 1)',
    'name in table',
    'table[index > 0 ? name : index]',
    'table[`${name}s`]',
  ];
  for (const code of found) {
    test(`finds ${code}`, async (t) => assert.equal(await findsIn(t, code), 1));
  }

  for (const code of [
    'table[index]',
    'table[`p${index}`]',
    "table['known']",
    "'known' in table",
    'new Map([[name, 1]]).get(name)',
  ]) {
    test(`accepts ${code}`, async (t) => assert.equal(await findsIn(t, code), 0));
  }
});
