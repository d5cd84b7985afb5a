import type { Command } from 'commander';
import { PlatformError } from '../../base/errors.js';
import { readResult } from '../../command/doctor/result.js';
import { prepareOutputs, writeExports } from '../../command/outputs.js';
import type { Evaluation } from '../../evaluation/evaluation.js';
import type { Plugin } from '../../evaluation/plugin.js';
import type { ShownResult } from '../../evaluation/evaluation.js';
import { systemsResultIn } from '../../evaluation/systems-result.js';
import { htmlPage } from '../../web/page.js';
import type { OwnedHost } from '../host.js';
import { shownDocument } from '../show-outcome.js';

/** The documents as results of a page: those of a plugin that can are one result on one scale. */
function shownTogether(documents: readonly (readonly [path: string, document: unknown])[], plugins: readonly Plugin[]) {
  const evaluations = plugins.flatMap(({ evaluation }) => evaluation ?? []);
  const wide = { wide: true };
  const results: ShownResult[] = [];
  const together = new Map<Evaluation, unknown[]>();
  for (const [path, document] of documents) {
    const joining = evaluations.find((evaluation) => evaluation.showTogether?.([document], wide) !== undefined);
    if (joining !== undefined) {
      together.set(joining, [...(together.get(joining) ?? []), document]);
      continue;
    }
    const reader = evaluations.find((evaluation) => evaluation.show?.(document, wide) !== undefined);
    const plugin = systemsResultIn(document)?.plugin ?? reader?.name ?? '';
    const shown = shownDocument(document, { plugin, plugins, ...wide });
    if (shown === undefined) {
      const remedy =
        "give what 'dlbricks run', 'validate', 'compose', 'layers', 'compare', 'latency' or 'evaluate' wrote with " +
        '--export-json; other commands write a page themselves with --export-html';
      throw new PlatformError('usage', `${path}: no plugin here understands this document; ${remedy}`);
    }
    results.push(shown);
  }
  const joined = [...together].flatMap(([reader, of]) => reader.showTogether?.(of, wide) ?? []);
  return [...joined, ...results];
}

export function registerReportCommand(program: Command, host: OwnedHost, plugins: readonly Plugin[]): void {
  program
    .command('report')
    .description('Show results that --export-json wrote as one page for browsers')
    .argument('<result...>', 'documents of dlbricks run, validate, compose and layers, compare, latency, or evaluate')
    .requiredOption('-o, --output <file>', 'the page; - is standard output')
    .addHelpText(
      'after',
      `
Reports of dlbricks are on one scale, also those of several machines. Results of
other plugins follow, one below the other. The page loads nothing
(docs/pages.md).

Examples:
  mlmodelscope report before.json after.json -o page.html
  mlmodelscope report machine-a.json machine-b.json -o - > page.html`,
    )
    .action(async (paths: string[], { output }: { readonly output: string }) => {
      const outputs = await prepareOutputs({ exportHtml: output });
      const documents: (readonly [string, unknown])[] = [];
      for (const path of paths) documents.push([path, await readResult(path)]);
      const shown = shownTogether(documents, plugins);
      await writeExports(() => htmlPage(shown), outputs.exports, host);
    });
}
