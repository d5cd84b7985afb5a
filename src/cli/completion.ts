import type { Command } from 'commander';

/** The subcommands and options that may follow the words of a command line. */
export interface CompletionPoint {
  /** Words after `mlmodelscope`, as in `store prune`. */
  readonly words: readonly string[];
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly { readonly name: string; readonly description: string }[];
}

/** Every command of a program, itself first, with the words that may follow it. */
export function completionPoints(command: Command, words: readonly string[] = []): readonly CompletionPoint[] {
  const options = command.options.flatMap(({ long, description, hidden }) => {
    return long == null || hidden ? [] : [{ name: long, description }];
  });
  const subcommands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
  const help = { name: '--help', description: 'display help for command' };
  return [
    { words, subcommands, options: [...options, help] },
    ...command.commands.flatMap((child) => completionPoints(child, [...words, child.name()])),
  ];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Paths of commands as a pattern of the shells' `case`. */
function casesOf(points: readonly CompletionPoint[]): string {
  const paths = points.filter(({ words }) => words.length > 0).map(({ words }) => `/${words.join('/')}`);
  return paths.map((path) => `'${path}'`).join(' | ');
}

function branchesOf(points: readonly CompletionPoint[], indent: string): string {
  const branches = points.map(({ words, subcommands, options }) => {
    const candidates = [...subcommands, ...options].map(({ name }) => name).join(' ');
    return `${indent}'${words.map((word) => `/${word}`).join('')}') candidates='${candidates}' ;;`;
  });
  return branches.join('\n');
}

/**
 * Finds the candidates, in the syntax that bash and zsh share.
 *
 * @param wordsBefore the words before the word to complete
 */
function candidatesAfter(wordsBefore: string, points: readonly CompletionPoint[]): string {
  return `local at='' candidates='' word
  for word in "${wordsBefore}"; do
    case "$at/$word" in
      ${casesOf(points)}) at="$at/$word" ;;
    esac
  done
  case "$at" in
${branchesOf(points, '    ')}
  esac`;
}

function bash(points: readonly CompletionPoint[]): string {
  return `_mlmodelscope() {
  ${candidatesAfter('${COMP_WORDS[@]:1:COMP_CWORD-1}', points)}
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# Where nothing fits, files are offered.
complete -o default -F _mlmodelscope mlmodelscope
`;
}

function zsh(points: readonly CompletionPoint[]): string {
  return `#compdef mlmodelscope
_mlmodelscope() {
  ${candidatesAfter('${(@)words[2,CURRENT-1]}', points)}
  compadd -- \${=candidates} || _files
}
compdef _mlmodelscope mlmodelscope
`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace(/\s+/g, ' ')}'`;
}

function fish(points: readonly CompletionPoint[]): string {
  const lines = points.flatMap(({ words, subcommands, options }) => {
    const at = `-n '__mlmodelscope_at "${words.map((word) => `/${word}`).join('')}"'`;
    return [
      ...subcommands.map(({ name, description }) => `${at} -f -a ${name} -d ${quotedForFish(description)}`),
      ...options.map(({ name, description }) => `${at} -l ${name.slice(2)} -d ${quotedForFish(description)}`),
    ];
  });
  return `function __mlmodelscope_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at/$word"
      case ${casesOf(points).replaceAll(' | ', ' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.map((line) => `complete -c mlmodelscope ${line}`).join('\n')}
`;
}

const SCRIPTS: Readonly<Record<Shell, (points: readonly CompletionPoint[]) => string>> = { bash, zsh, fish };

/** The script by which a shell completes this program's commands and options. */
export function completionScript(shell: Shell, program: Command): string {
  return SCRIPTS[shell](completionPoints(program));
}
