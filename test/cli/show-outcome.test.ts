import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import dlbricks from '../../plugins/dlbricks/index.js';
import { buildReport } from '../../plugins/dlbricks/report/report.js';
import type { EvaluationOutcome } from '../../src/cli/evaluations.js';
import type { OwnedHost } from '../../src/cli/host.js';
import { showOutcome } from '../../src/cli/show-outcome.js';
import type { Evaluation } from '../../src/evaluation/evaluation.js';
import type { Plugin } from '../../src/evaluation/plugin.js';
import { buildSystemsResult } from '../../src/evaluation/systems-result.js';
import { createFakeAgent } from '../support/fake-agent.js';
import { recordingHost } from '../plugins/dlbricks/commands/command-host.js';
import { endToEndOf, estimateOf, resultOf, SETTINGS } from '../plugins/dlbricks/report/sample-result.js';

const vague = estimateOf('vague', 10, { sequential: { ms: 10, lowMs: 2, highMs: 18 } });
const report = buildReport(resultOf([{ estimate: vague, endToEnd: endToEndOf(0, 8, 5000, 8) }]), SETTINGS);

function outcomeWith(resultJson: string | undefined): EvaluationOutcome {
  return {
    estimates: [{ kind: 'estimate', model: 'vague', latencyMs: 10, lowMs: 2, highMs: 18, coverage: 1 }],
    done: { kind: 'done', resultJson, partial: false },
  };
}

async function shown(
  outcome: EvaluationOutcome,
  plugin = 'dlbricks',
  json = false,
  wide = false,
  plugins: readonly Plugin[] = [dlbricks],
): Promise<string> {
  const host = recordingHost(createFakeAgent({ latencyOf: () => 1 }));
  const outputs = { exports: [], quiet: false };
  const options = { plugin, plugins, outputs, json, wide };
  await showOutcome(outcome, options, host as unknown as OwnedHost);
  return host.printed.join('');
}

describe('the result of an evaluation', () => {
  it('is shown as the command of its plugin shows it: end-to-end, error, and a warning of a wide interval', async () => {
    const text = await shown(outcomeWith(JSON.stringify(report)));
    assert.match(text, /│ model │ +estimate \(ms\) │ measured \(ms\) │ +error │/);
    assert.match(text, /│ vague │ 10\.00 ± 80\.0 % │ +8\.000 │ \+25\.0 % │/);
    assert.match(text, /^warning: wide intervals: vague \(± 80\.0 %\); /m);
  });

  it('is the JSON document where that is asked for', async () => {
    assert.deepEqual(JSON.parse(await shown(outcomeWith(JSON.stringify(report)), 'dlbricks', true)), report);
  });

  it('on several systems is a table of all, and with --wide the table of its plugin for each as well', async () => {
    const { fingerprint, ...system } = report.system;
    const named = ['fast', 'slow'].map((name) => {
      const { processor, architecture, operating_system, cores, memory_bytes, framework, framework_version } = system;
      const facts = { processor, architecture, operating_system, cores, memory_bytes, framework, framework_version };
      const estimates = [{ model: 'vague', latency_ms: 10, low_ms: 2, high_ms: 18, coverage: 1, percentiles: [] }];
      const measured = { agents: [], estimates, partial: false, failure: null, result: report };
      return { name, fingerprint, ...facts, threads: 1, ...measured };
    });
    const all = buildSystemsResult({
      evaluation: 'e',
      plugin: 'dlbricks',
      provenance: null,
      models: ['vague'],
      systems: named,
    });
    const outcome = outcomeWith(JSON.stringify(all));
    const short = await shown(outcome);
    assert.match(short, /│ model │ +fast \(ms\) │ +slow \(ms\) │/);
    assert.doesNotMatch(short, /wide intervals/);
    const wide = await shown(outcome, 'dlbricks', false, true);
    assert.equal(wide.match(/^warning: wide intervals: vague/gm)?.length, 2);
    assert.match(wide, /^slow$/m);
  });

  for (const [returned, found] of [
    [undefined, 'undefined'],
    [Promise.resolve('text'), '[Promise]'],
  ] as const) {
    it(`that its plugin shows as ${found} names the plugin`, async () => {
      const show = () => ({ result: () => assert.fail(), text: () => returned as unknown as string });
      const evaluation: Evaluation = {
        name: 'odd',
        version: '1',
        settings: z.object({}),
        show,
        run: () => assert.fail(),
      };
      const odd = { name: 'odd', version: '1', evaluation };
      const message = `text() of the result that the plugin odd shows returned ${found}, expected a string; report it`;
      await assert.rejects(shown(outcomeWith('{}'), 'odd', false, false, [odd]), (error: Error) =>
        error.message.startsWith(message),
      );
    });
  }

  for (const [what, outcome, plugin] of [
    ['of a plugin that is not here', outcomeWith(JSON.stringify(report)), 'other'],
    ['of another version of the plugin', outcomeWith('{"models":[]}'), 'dlbricks'],
    ['that the server withholds', outcomeWith(undefined), 'dlbricks'],
  ] as const) {
    it(`${what} is its estimates`, async () => {
      assert.match(await shown(outcome, plugin), /│ vague │ +10\.00 │ +2\.000 to 18\.00 │ +100 % │/);
    });
  }
});
