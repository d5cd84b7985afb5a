import { Linter } from 'eslint';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A folder whose parts have levels; see lint/levels.js. */
interface FolderLevels {
  readonly folder: string;
  readonly levels: readonly (readonly string[])[];
}

const { default: configuration } = (await import(join(ROOT, 'eslint.config.js'))) as {
  readonly default: readonly Linter.Config[];
};

/** The folders with levels in eslint.config.js, each with its rule. */
const LEVEL_RULES = configuration.flatMap(({ plugins = {}, rules = {} }) => {
  return Object.entries(rules).flatMap(([name, setting]) => {
    if (!name.endsWith('/levels') || !Array.isArray(setting)) return [];
    return [{ folderLevels: setting[1] as FolderLevels, plugins, rules: { [name]: setting } }];
  });
});

/** A file in a part of a folder. The part `.` stands for the files of the folder itself. */
function fileIn({ folder }: FolderLevels, part: string): string {
  if (part === '.') return `${folder}/some-file.ts`;
  return part.endsWith('.ts') ? `${folder}/${part}` : `${folder}/${part}/some-file.ts`;
}

/** Whether the rule lets a file of one part import a file of another part. */
function isAllowed({ folderLevels, plugins, rules }: (typeof LEVEL_RULES)[number], from: string, to: string): boolean {
  const up = folderLevels.folder
    .split('/')
    .map(() => '..')
    .join('/');
  const deeper = from === '.' || from.endsWith('.ts') ? '' : '../';
  const code = `import '${deeper}${up}/${fileIn(folderLevels, to).replace(/\.ts$/, '.js')}';`;
  const linter = new Linter({ configType: 'flat', cwd: ROOT });
  const config = [{ files: ['**/*.ts'], plugins, rules }];
  const messages = linter.verify(code, config, { filename: join(ROOT, fileIn(folderLevels, from)) });
  for (const { ruleId, message } of messages) assert.match(ruleId ?? '', /\/levels$/, message);
  return messages.length === 0;
}

describe('the levels of folders', () => {
  for (const one of LEVEL_RULES) {
    const { folder, levels } = one.folderLevels;
    test(`of ${folder}: imports go down only, and not to others of the same level`, () => {
      levels.forEach((parts, level) => {
        for (const from of parts) {
          levels.forEach((others, other) => {
            for (const to of others) {
              assert.equal(isAllowed(one, from, to), other < level || from === to, `${folder}: ${from} → ${to}`);
            }
          });
        }
      });
    });

    test(`of ${folder}: each folder in it has a level`, () => {
      const folders = readdirSync(join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
      const unlisted = folders.map(({ name }) => name).filter((name) => !levels.flat().includes(name));
      assert.deepEqual(
        unlisted.filter((name) => name !== 'generated'),
        [],
      );
    });
  }

  test('exist for eight folders', () => {
    assert.deepEqual(
      LEVEL_RULES.map(({ folderLevels }) => folderLevels.folder),
      ['src', 'src/onnx', 'src/agent', 'src/work', 'src/evaluation', 'fuzz', 'torture', 'plugins/dlbricks'],
    );
  });
});
