import { z } from 'zod';
import { isRefused, type ManifestDocument, nodeAt, problemAt, problemAtKey, parseDocument } from './document.js';
import { byPosition, type Problem, type Problems, orThrow } from './problem.js';
import { quoted } from '../base/quoted.js';
import { expectation, TYPE_NAMES } from '../base/schema-problems.js';
import { suggestion } from '../base/suggestion.js';
import { ownValue } from '../base/own-value.js';
import type { YamlNode, YamlPath } from './yaml-tree.js';

/** As values by YAML's core schema, or as text. */
type ScalarReading = 'value' | 'text';

/** Refused values are undefined. With the reading `text`, keys without a value are left out. */
export function toPlainData(node: YamlNode, reading: ScalarReading = 'value'): unknown {
  switch (node.kind) {
    case 'scalar':
      return reading === 'text' ? node.text : node.value;
    case 'sequence':
      return node.items.map((item) => toPlainData(item, reading));
    case 'mapping': {
      const entries = [...node.entries].filter(([, { value }]) => {
        return reading === 'value' || value.kind !== 'scalar' || value.text.trim() !== '';
      });
      // fromEntries defines properties, so that the key __proto__ is a key like any other.
      return Object.fromEntries(entries.map(([key, { value }]) => [key, toPlainData(value, reading)]));
    }
    case 'refused':
      return undefined;
  }
}

const YAML_NAMES: ReadonlyMap<string, string> = new Map([
  ...TYPE_NAMES,
  ['object', 'a mapping'],
  ['record', 'a mapping'],
]);

interface KeySchema {
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly items?: KeySchema;
  readonly anyOf?: readonly KeySchema[];
}

function knownKeys(schema: KeySchema | undefined, path: readonly PropertyKey[]): readonly string[] {
  if (schema === undefined) return [];
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((alternative) => knownKeys(alternative, path));
  const [step, ...rest] = path;
  if (step === undefined) return Object.keys(schema.properties ?? {});
  return knownKeys(typeof step === 'number' ? schema.items : ownValue(schema.properties ?? {}, String(step)), rest);
}

/** The alternative whose outermost type fits the value. */
function meantAlternative(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const fitting = issue.errors.filter((issues) => {
    return !issues.some(({ code, path }) => (code === 'invalid_type' || code === 'invalid_value') && path.length === 0);
  });
  return fitting.length === 1 ? fitting[0] : undefined;
}

class IssueTranslator {
  private keySchema: KeySchema | undefined;
  /** Mappings whose known keys a problem lists. */
  private readonly listed = new Set<string>();

  constructor(
    private readonly document: ManifestDocument,
    private readonly schema: z.ZodType,
  ) {}

  listProblems(issue: z.core.$ZodIssue, around: readonly PropertyKey[] = []): readonly Problem[] {
    const path = [...around, ...issue.path] as (string | number)[];
    if (isRefused(this.document.root, path)) return [];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => this.unknownKey([...path, key], key));
    if (issue.code === 'invalid_key') {
      const expected = issue.issues[0]?.message ?? 'another key';
      return [problemAtKey(this.document, path, expected, `the key ${quoted(String(path.at(-1)))}`)];
    }
    if (issue.code === 'invalid_union') {
      const meant = meantAlternative(issue);
      if (meant !== undefined) return meant.flatMap((inner) => this.listProblems(inner, path));
    }
    const node = nodeAt(this.document.root, path);
    const unquoted = issue.code === 'invalid_type' && issue.expected === 'string' && node?.kind === 'scalar';
    const hint = unquoted && node.value !== null ? ' in quotes' : '';
    return [problemAt(this.document, path, issue.message + hint)];
  }

  knownAt(path: readonly (string | number)[]): readonly string[] {
    this.keySchema ??= z.toJSONSchema(this.schema, { io: 'input', unrepresentable: 'any' }) as KeySchema;
    return knownKeys(this.keySchema, path);
  }

  private unknownKey(path: readonly (string | number)[], key: string): Problem {
    const known = this.knownAt(path.slice(0, -1));
    const meant = suggestion(key, known);
    const found = `the unknown key ${quoted(key)}`;
    const list = known.join(', ');
    if (meant === undefined && !this.listed.has(list)) {
      this.listed.add(list);
      return problemAtKey(this.document, path, `one of the keys ${list}`, found);
    }
    if (meant === undefined) return problemAtKey(this.document, path, 'one of the keys above', found);
    return problemAtKey(this.document, path, 'a known key', `${found} (did you mean ${quoted(meant)}?)`);
  }
}

/** Problems, also those of the YAML, from top to bottom. A schema's own error message is used as the expected value. */
export function validate<S extends z.ZodType>(
  document: ManifestDocument,
  schema: S,
): { readonly ok: true; readonly data: z.output<S> } | Problems {
  return validateData(document, schema, toPlainData(document.root));
}

export interface IgnoredKey {
  readonly path: YamlPath;
  readonly meant: string | undefined;
}

/** Removes unknown keys from the data, and returns them from top to bottom. */
function takeUnknownKeys(document: ManifestDocument, schema: z.ZodType, data: unknown): readonly IgnoredKey[] {
  const translator = new IssueTranslator(document, schema);
  const keys: IgnoredKey[] = [];
  for (const issue of schema.safeParse(data).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const around = issue.path as (string | number)[];
    const known = translator.knownAt(around);
    const inner = (value: unknown, step: string | number): unknown => {
      return ownValue(value as Record<string, unknown>, String(step));
    };
    const mapping = around.reduce(inner, data) as object;
    for (const key of issue.keys) {
      Reflect.deleteProperty(mapping, key);
      keys.push({ path: [...around, key], meant: suggestion(key, known) });
    }
  }
  return keys;
}

/** Like {@link validate}, with every scalar as text; unknown keys are ignored and returned. */
export function validateKnownKeys<S extends z.ZodType>(
  document: ManifestDocument,
  schema: S,
): { readonly ok: true; readonly data: z.output<S>; readonly ignored: readonly IgnoredKey[] } | Problems {
  const data = toPlainData(document.root, 'text');
  const ignored = takeUnknownKeys(document, schema, data);
  const result = validateData(document, schema, data);
  return result.ok ? { ...result, ignored } : result;
}

function validateData<S extends z.ZodType>(
  document: ManifestDocument,
  schema: S,
  data: unknown,
): { readonly ok: true; readonly data: z.output<S> } | Problems {
  const result = schema.safeParse(data, {
    // A schema's own error message takes precedence.
    error: (issue) => expectation(issue, YAML_NAMES) ?? 'something else',
  });
  const translator = new IssueTranslator(document, schema);
  const issues = result.success ? [] : result.error.issues.flatMap((issue) => translator.listProblems(issue));
  const problems = [...document.problems, ...issues];
  if (problems.length > 0 || !result.success) return { ok: false, problems: byPosition(problems) };
  return { ok: true, data: result.data };
}

/** @throws PlatformError `manifest` with the place of the problem in the file */
export function checkedYamlFile<Schema extends z.ZodType>(
  path: string,
  bytes: Uint8Array,
  schema: Schema,
  maxEvents?: number,
): { readonly document: ManifestDocument; readonly data: z.output<Schema> } {
  const document = orThrow(parseDocument(path, bytes, maxEvents));
  return { document, data: orThrow(validate(document, schema)).data };
}
