import { Linter } from 'eslint';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A folder whose rooms have levels; see lint/rooms.js. */
interface House {
  readonly folder: string;
  readonly levels: readonly (readonly string[])[];
}

const { default: configuration } = (await import(join(ROOT, 'eslint.config.js'))) as {
  readonly default: readonly Linter.Config[];
};

/** The houses of eslint.config.js, each with its rule. */
const ROOM_RULES = configuration.flatMap(({ plugins = {}, rules = {} }) => {
  return Object.entries(rules).flatMap(([name, setting]) => {
    if (!name.endsWith('/rooms') || !Array.isArray(setting)) return [];
    return [{ house: setting[1] as House, plugins, rules: { [name]: setting } }];
  });
});

/** A file in a room. The room `.` stands for the files of the house itself. */
function fileIn({ folder }: House, room: string): string {
  if (room === '.') return `${folder}/some-file.ts`;
  return room.endsWith('.ts') ? `${folder}/${room}` : `${folder}/${room}/some-file.ts`;
}

/** Whether the rule lets a file of one room import a file of another room. */
function isAllowed({ house, plugins, rules }: (typeof ROOM_RULES)[number], from: string, to: string): boolean {
  const up = house.folder
    .split('/')
    .map(() => '..')
    .join('/');
  const deeper = from === '.' || from.endsWith('.ts') ? '' : '../';
  const code = `import '${deeper}${up}/${fileIn(house, to).replace(/\.ts$/, '.js')}';`;
  const linter = new Linter({ configType: 'flat', cwd: ROOT });
  const config = [{ files: ['**/*.ts'], plugins, rules }];
  const messages = linter.verify(code, config, { filename: join(ROOT, fileIn(house, from)) });
  for (const { ruleId, message } of messages) assert.match(ruleId ?? '', /\/rooms$/, message);
  return messages.length === 0;
}

describe('the levels of folders', () => {
  for (const one of ROOM_RULES) {
    const { folder, levels } = one.house;
    test(`of ${folder}: imports go down only, and not to others of the same level`, () => {
      levels.forEach((rooms, level) => {
        for (const from of rooms) {
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
      ROOM_RULES.map(({ house }) => house.folder),
      ['src', 'src/onnx', 'src/agent', 'src/work', 'src/evaluation', 'fuzz', 'torture', 'plugins/dlbricks'],
    );
  });
});
