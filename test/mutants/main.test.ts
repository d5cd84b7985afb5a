import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TARGETS } from '../../mutants/targets.js';
import { isRunning } from '../../src/base/process-life.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '../store/temporary-folder.js';

const MAIN = fileURLToPath(new URL('../../mutants/main.js', import.meta.url));

/** Writes its process's id to a file, and never ends. */
const ENDLESS_TEST = `import { writeFileSync, renameSync } from 'node:fs';
writeFileSync(process.env.PID_FILE + '.part', String(process.pid));
renameSync(process.env.PID_FILE + '.part', process.env.PID_FILE);
for (;;);
`;

test('where the tool is ended, its tests end too, and its copy is removed', async (t) => {
  const folder = await temporaryFolder(t);
  const files = {
    'package.json': '{"type":"module"}',
    'mutants/accepted.yml': '{}',
    'src/rpc/a.ts': '',
    'dist/src/rpc/a.js': '',
    'dist/src/rpc/a.js.map': '{"version":3,"sources":[],"names":[],"mappings":""}',
    'test/rpc/a.test.ts': '',
    'dist/test/rpc/a.test.js': ENDLESS_TEST,
  };
  for (const { code } of TARGETS) await mkdir(join(folder, code), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const temporary = join(folder, 'out');
  await mkdir(temporary);
  const pidFile = join(folder, 'pid');
  const tool = spawn(process.execPath, [MAIN, 'src/rpc'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: temporary, PID_FILE: pidFile },
    stdio: 'ignore',
  });
  const ended = once(tool, 'exit');
  await until(() => existsSync(pidFile));
  const pid = Number(await readFile(pidFile, 'utf8'));
  t.after(() => isRunning(pid) && process.kill(pid, 'SIGKILL'));
  tool.kill('SIGTERM');
  assert.deepEqual(await ended, [143, null]);
  await until(() => !isRunning(pid));
  assert.deepEqual(await readdir(temporary), []);
});
