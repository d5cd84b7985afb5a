import type { Command } from 'commander';
import type { CommandHost, Plugin } from '../../evaluation/plugin.js';
import { onnxRuntimeFramework } from '../../predictor/onnxruntime/framework.js';
import { PLATFORM_VERSION } from '../platform-version.js';

/** `mlmodelscope version`: what this build is made of. */
export function registerVersionCommand(program: Command, host: CommandHost, plugins: readonly Plugin[]): void {
  program
    .command('version')
    .description('Show the versions of the platform, its plugins, the framework and Node')
    .action(() => {
      const framework = onnxRuntimeFramework();
      const lines = [
        `mlmodelscope ${PLATFORM_VERSION}`,
        ...plugins.map(({ name, version }) => `${name} ${version}`),
        `${framework.name} ${framework.version}`,
        `node ${process.versions.node}`,
      ];
      host.print(`${lines.join('\n')}\n`);
    });
}
