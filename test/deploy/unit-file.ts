import { readFileSync } from 'node:fs';
import { inRepository } from './compose-file.js';

/** The command of a systemd unit, and its environment. */
export interface Unit {
  /** The arguments of the program, with the values that systemd fills in. */
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface UnitOptions {
  /** Takes the place of /etc/mlmodelscope. */
  readonly folder: string;
  /** Instance of a template. */
  readonly instance?: string;
  /** The content of its environment file. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Reads a unit of deploy/systemd as systemd does, as far as these units need it. */
export function readUnit(name: string, { folder, instance = '', variables }: UnitOptions): Unit {
  const text = readFileSync(inRepository(`deploy/systemd/${name}`), 'utf8').replace(/\\\n\s*/g, '');
  const settings = [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => ({ key, value }));
  const valuesOf = (wanted: string): readonly string[] => {
    return settings.filter(({ key }) => key === wanted).map(({ value }) => value);
  };
  const here = (path: string): string => path.replace('/etc/mlmodelscope', folder);
  const credentials = new Map(valuesOf('LoadCredential').map((value) => value.split(':') as [string, string]));
  const [start = ''] = valuesOf('ExecStart');
  const valueOf = (variable: string): string => new Map(Object.entries(variables)).get(variable) ?? '';
  // Without braces, a value is any number of words.
  const args = start
    .split(' ')
    .slice(1)
    .flatMap((word) => (/^\$\w+$/.test(word) ? valueOf(word.slice(1)).split(' ').filter(Boolean) : [word]));
  return {
    args: args.map((word) =>
      word
        .replace(/^%d\/(.*)$/, (_, credential: string) => here(credentials.get(credential) ?? `no ${credential}`))
        .replace('%i', instance)
        .replace(/^\$\{(\w+)\}$/, (_, variable: string) => valueOf(variable)),
    ),
    environment: Object.fromEntries(
      valuesOf('Environment')
        .flatMap((value) => value.split(' '))
        .map((assignment) => assignment.split('=') as [string, string])
        .filter(([key]) => key.startsWith('MLMODELSCOPE_'))
        .map(([key, value]) => [key, here(value)]),
    ),
  };
}
