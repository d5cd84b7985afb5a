import type { Command } from 'commander';

export interface LogOption {
  readonly log?: string;
}

export function addLogOption(command: Command): Command {
  return command.option(
    '--log <file>',
    "write a reference log (.yml), which 'mlmodelscope reproduce' runs again; runs each whole model once more for its outputs",
  );
}
