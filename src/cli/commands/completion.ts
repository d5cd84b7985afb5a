import { Argument, type Command } from 'commander';
import type { CommandHost } from '../../evaluation/plugin.js';
import { completionScript, type Shell, SHELLS } from '../completion.js';

export function registerCompletionCommand(program: Command, host: CommandHost): void {
  program
    .command('completion')
    .description('Print the script by which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Add a line to the file that your shell reads when it starts:
  ~/.bashrc:                   source <(mlmodelscope completion bash)
  ~/.zshrc, after compinit:    source <(mlmodelscope completion zsh)
  ~/.config/fish/config.fish:  mlmodelscope completion fish | source

Example:
  mlmodelscope completion bash > mlmodelscope.bash`,
    )
    .action((shell: Shell) => host.print(completionScript(shell, program)));
}
