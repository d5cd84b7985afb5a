import type { Command } from 'commander';
import { PlatformError } from '../../base/errors.js';
import type { CommandHost, Plugin } from '../../evaluation/plugin.js';
import { FRAMEWORKS, type FrameworkEntry } from '../../predictor/frameworks.js';
import { PLATFORM_VERSION } from '../../base/platform-version.js';

function frameworkLine([name, { describe }]: readonly [string, FrameworkEntry]): string {
  try {
    return `${name} ${describe().version}`;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'unsupported') return `${name} is not installed`;
    throw error;
  }
}

export function registerVersionCommand(program: Command, host: CommandHost, plugins: readonly Plugin[]): void {
  program
    .command('version')
    .description('Show the versions of the platform, its plugins, the frameworks and Node')
    .addHelpText('after', '\nExample:\n  mlmodelscope version')
    .action(() => {
      const lines = [
        `mlmodelscope ${PLATFORM_VERSION}`,
        ...plugins.map(({ name, version }) => `${name} ${version}`),
        ...Object.entries(FRAMEWORKS).map(frameworkLine),
        `node ${process.versions.node}`,
      ];
      host.print(`${lines.join('\n')}\n`);
    });
}
