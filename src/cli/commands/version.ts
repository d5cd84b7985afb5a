import type { Command } from 'commander';
import type { CommandHost, Plugin } from '../../evaluation/plugin.js';
import { FRAMEWORKS } from '../../predictor/frameworks.js';
import { PLATFORM_VERSION } from '../platform-version.js';

/** `mlmodelscope version`: the versions of this build's parts. */
export function registerVersionCommand(program: Command, host: CommandHost, plugins: readonly Plugin[]): void {
  program
    .command('version')
    .description('Show the versions of the platform, its plugins, the frameworks and Node')
    .action(() => {
      const lines = [
        `mlmodelscope ${PLATFORM_VERSION}`,
        ...plugins.map(({ name, version }) => `${name} ${version}`),
        ...Object.values(FRAMEWORKS).map(({ describe }) => Object.values(describe()).join(' ')),
        `node ${process.versions.node}`,
      ];
      host.print(`${lines.join('\n')}\n`);
    });
}
