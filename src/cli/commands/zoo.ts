import type { Command } from 'commander';
import type { CommandHost } from '../../evaluation/plugin.js';
import { ensureZooModel } from '../../zoo/cache.js';
import { zooEntry } from '../../zoo/zoo.js';

export function registerZooCommand(program: Command, host: CommandHost): void {
  program
    .command('zoo')
    .description("Print the paths of zoo models' ONNX files; missing files are made first")
    .argument('<name...>', "names as in 'registry models', with or without zoo:")
    .addHelpText('after', '\nExample:\n  mlmodelscope zoo mobilenet_v2 resnet18')
    .action(async (references: string[]) => {
      // All names are checked before the first file is made.
      const names = references.map((reference) => zooEntry(reference.replace(/^zoo:/, '')).name);
      const progress = host.progress(false);
      const paths: string[] = [];
      try {
        for (const [done, name] of names.entries()) {
          progress.step('building', done, names.length, name);
          const onProgress = (bytes: number, total: number): void =>
            progress.within(`${Math.round(bytes / 1e6)} of ${Math.round(total / 1e6)} MB`);
          paths.push(await ensureZooModel(name, { signal: host.signal, onProgress }));
        }
      } finally {
        progress.stop();
      }
      host.print(`${paths.join('\n')}\n`);
    });
}
