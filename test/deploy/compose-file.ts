import { load, YAML11_SCHEMA } from 'js-yaml';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

export interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly mem_limit?: string;
  readonly user?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** Replaces `${NAME:-default}` and `${NAME:?advice}` as Compose does. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, operator?: string, rest?: string) => {
    const value = new Map(Object.entries(variables)).get(name);
    if (value !== undefined && value !== '') return value;
    if (operator === '-') return rest ?? '';
    throw new Error(`${name}: ${rest ?? 'is not set'}`);
  });
}

/** docker-compose.yml with these variables, as in .env. */
export function readComposeFile(variables: Readonly<Record<string, string>>): ComposeFile {
  const text = readFileSync(inRepository('docker-compose.yml'), 'utf8');
  const withoutComments = text.replace(/^\s*#.*$/gm, '');
  // The file has merge keys of YAML 1.1.
  return load(interpolated(withoutComments, variables), { schema: YAML11_SCHEMA }) as ComposeFile;
}
