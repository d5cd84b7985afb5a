import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { deadline } from './support/command.js';
import { workplaceHere } from './support/workplace-here.js';

async function scriptFor(t: TestContext, shell: string): Promise<string> {
  const { stdout, stderr, code } = await (await workplaceHere(t)).run(['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

function isMissing(shell: string): string | false {
  return spawnSync(shell, ['-c', 'true']).status === 0 ? false : `needs ${shell}`;
}

describe('completion', { ...deadline, concurrency: 2 }, () => {
  it('offers commands, their subcommands and their options in bash', { skip: isMissing('bash') }, async (t) => {
    const script = await scriptFor(t, 'bash');
    const offered = (...words: readonly string[]): readonly string[] => {
      const line = `COMP_WORDS=(mlmodelscope "$@"); COMP_CWORD=$#; _mlmodelscope; echo "\${COMPREPLY[@]}"`;
      const { stdout } = spawnSync('bash', ['-c', `${script}\n${line}`, 'bash', ...words], { encoding: 'utf8' });
      return stdout.trim().split(' ');
    };
    assert.deepEqual(offered('dlb'), ['dlbricks']);
    assert.deepEqual(offered('store', 'pr'), ['prune']);
    assert.deepEqual(offered('store', 'prune', '--store', 'here', '--dr'), ['--dry-run']);
    assert.ok(offered('dlbricks', 'run', '').includes('--remeasure'));
    assert.ok(!offered('dlbricks', 'generate', '').includes('--remeasure'));
    assert.deepEqual(offered('latency', '--framework', ''), ['onnxruntime', 'onnxruntime-web']);
    assert.deepEqual(offered('evaluate', 'e.yml', '--placement', 'e'), ['each']);
    assert.deepEqual(offered('completion', 'ba'), ['bash']);
    // Files follow options that take other values; no option can.
    assert.deepEqual(offered('latency', '--export-json', ''), ['']);
    assert.ok(offered('latency', '--wide', '').includes('--export-json'));
    // Only for processes that the platform itself starts.
    assert.ok(!offered('plugin', '--').includes('--of-parent'));
  });

  for (const shell of ['zsh', 'fish']) {
    it(`is a script that ${shell} takes`, { skip: isMissing(shell) }, async (t) => {
      const { status, stderr } = spawnSync(shell, ['-n'], { input: await scriptFor(t, shell), encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
    });

    it(`names commands and options to ${shell}`, async (t) => {
      const script = await scriptFor(t, shell);
      for (const word of ['dlbricks', 'prune', 'remeasure']) assert.ok(script.includes(word), word);
    });
  }

  it('for another shell is a mistake', async (t) => {
    const { stderr, code } = await (await workplaceHere(t)).run(['completion', 'tcsh']);
    assert.match(stderr, /Allowed choices are bash, zsh, fish/);
    assert.equal(code, 2);
  });
});
