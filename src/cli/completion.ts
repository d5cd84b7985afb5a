import type { Command } from 'commander';

export interface CompletionPoint {
  readonly words: readonly string[];
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly {
    readonly name: string;
    readonly description: string;
    /** The values that it takes; empty where it takes others, undefined where it takes none. */
    readonly values: readonly string[] | undefined;
  }[];
  /** The values that its arguments take, where these are a few words. */
  readonly values: readonly string[];
}

export function completionPoints(command: Command, words: readonly string[] = []): readonly CompletionPoint[] {
  const options = command.options.flatMap(({ long, description, hidden, required, argChoices = [] }) => {
    return long == null || hidden ? [] : [{ name: long, description, values: required ? argChoices : undefined }];
  });
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const subcommands = command.commands.map((child) => ({ name: child.name(), description: child.description() }));
  const help = { name: '--help', description: 'display help for command', values: undefined };
  return [
    { words, subcommands, options: [...options, help], values },
    ...command.commands.flatMap((child) => completionPoints(child, [...words, child.name()])),
  ];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Paths of commands as a pattern of the shells' `case`. */
function formatCases(points: readonly CompletionPoint[]): string {
  const paths = points.map(({ words }) => commandPath(words)).filter((path) => path !== '');
  return paths.map((path) => `'${path}'`).join(' | ');
}

function formatBranches(points: readonly CompletionPoint[], indent: string): string {
  const branches = points.map(({ words, subcommands, options, values }) => {
    const candidates = [...values, ...[...subcommands, ...options].map(({ name }) => name)].join(' ');
    return `${indent}'${commandPath(words)}') candidates='${candidates}' ;;`;
  });
  return branches.join('\n');
}

function commandPath(words: readonly string[]): string {
  return words.map((word) => `/${word}`).join('');
}

/** The values of options, by the command and the option before the word to complete. Other values may be files. */
function formatValueBranches(points: readonly CompletionPoint[], indent: string): string {
  const branches = points.flatMap(({ words, options }) =>
    options.flatMap(({ name, values }) => {
      return values ? `${indent}'${commandPath(words)} ${name}') candidates='${values.join(' ')}' ;;` : [];
    }),
  );
  return branches.join('\n');
}

/** Finds the candidates, in the syntax that bash and zsh share. @param wordBefore the last of `wordsBefore` */
function candidatesAfter(wordsBefore: string, wordBefore: string, points: readonly CompletionPoint[]): string {
  return `local at='' candidates='' word
  for word in "${wordsBefore}"; do
    case "$at/$word" in
      ${formatCases(points)}) at="$at/$word" ;;
    esac
  done
  case "$at" in
${formatBranches(points, '    ')}
  esac
  case "$at ${wordBefore}" in
${formatValueBranches(points, '    ')}
  esac`;
}

function bash(points: readonly CompletionPoint[]): string {
  return `_mlmodelscope() {
  ${candidatesAfter('${COMP_WORDS[@]:1:COMP_CWORD-1}', '${COMP_WORDS[COMP_CWORD-1]}', points)}
  COMPREPLY=($(compgen -W "$candidates" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# Where nothing fits, files are offered.
complete -o default -F _mlmodelscope mlmodelscope
`;
}

function zsh(points: readonly CompletionPoint[]): string {
  return `#compdef mlmodelscope
_mlmodelscope() {
  ${candidatesAfter('${(@)words[2,CURRENT-1]}', '${words[CURRENT-1]}', points)}
  compadd -- \${=candidates} || _files
}
compdef _mlmodelscope mlmodelscope
`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace(/\s+/g, ' ')}'`;
}

function fish(points: readonly CompletionPoint[]): string {
  const lines = points.flatMap(({ words, subcommands, options, values: ofArguments }) => {
    const at = `-n '__mlmodelscope_at "${commandPath(words)}"'`;
    const taken = (values: readonly string[] | undefined): string => {
      if (values === undefined) return '';
      return values.length === 0 ? ' -r' : ` -x -a '${values.join(' ')}'`;
    };
    return [
      ...subcommands.map(({ name, description }) => `${at} -f -a ${name} -d ${quotedForFish(description)}`),
      ...ofArguments.map((value) => `${at} -f -a ${value}`),
      ...options.map(
        ({ name, description, values }) => `${at} -l ${name.slice(2)}${taken(values)} -d ${quotedForFish(description)}`,
      ),
    ];
  });
  return `function __mlmodelscope_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at/$word"
      case ${formatCases(points).replaceAll(' | ', ' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.map((line) => `complete -c mlmodelscope ${line}`).join('\n')}
`;
}

const SCRIPTS: Readonly<Record<Shell, (points: readonly CompletionPoint[]) => string>> = { bash, zsh, fish };

export function completionScript(shell: Shell, program: Command): string {
  return SCRIPTS[shell](completionPoints(program));
}
