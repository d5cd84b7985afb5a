import type { z } from 'zod';
import { counted } from './counted.js';
import { oneOf } from './one-of.js';

export interface SchemaProblemOptions {
  /** Name of the whole value in messages. */
  readonly whole?: string;
  /** Path of the checked value in a larger one. */
  readonly around?: readonly PropertyKey[];
}

/** By the names that the library of schemas has for them. */
export const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['array', 'a list'],
  ['tuple', 'a list'],
  ['undefined', 'nothing'],
]);

function nameOfType(type: string): string {
  return TYPE_NAMES.get(type) ?? type;
}

const COUNTED: ReadonlyMap<string, string> = new Map([
  ['string', 'character'],
  ['array', 'item'],
]);

/** As in "a list of at least 3 items" or "a number above 0". */
function boundText(origin: string, words: string, bound: number | bigint): string {
  const unit = COUNTED.get(origin);
  return `${nameOfType(origin)} ${words} ${unit === undefined ? bound : counted(Number(bound), unit)}`;
}

function findReceived(message: string): string {
  const [found = 'another value'] = /(?<=received )\S+$/.exec(message) ?? [];
  return nameOfType(found);
}

/** What the library of schemas says where a schema has no message of its own. */
const FROM_LIBRARY = /^(Invalid|Too small|Too big|Unrecognized)\b/;

/** Of alternatives that are plain types, with the value that was found. */
function unionMessage({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const wrong = errors.flatMap(([first]) => (first?.code === 'invalid_type' && first.path.length === 0 ? [first] : []));
  const [first] = wrong;
  if (first === undefined || wrong.length < errors.length) return 'expected another value';
  const types = [...new Set(wrong.map(({ expected }) => nameOfType(expected)))];
  return `expected ${oneOf(types)}, found ${findReceived(first.message)}`;
}

/** As a noun, where a schema has no message of its own; undefined for other problems than a wrong value. */
export function expectation(issue: z.core.$ZodRawIssue | z.core.$ZodIssue, names = TYPE_NAMES): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return names.get(issue.expected) ?? issue.expected;
    case 'invalid_value':
      return oneOf(issue.values.map((value) => JSON.stringify(value)));
    case 'too_small':
      return boundText(issue.origin, issue.inclusive === false ? 'above' : 'of at least', issue.minimum);
    case 'too_big':
      return boundText(issue.origin, issue.inclusive === false ? 'below' : 'of at most', issue.maximum);
    default:
      return undefined;
  }
}

const NUMBERS: ReadonlySet<string> = new Set(['number', 'int']);

function isOfNumber(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return NUMBERS.has(issue.expected);
  return (issue.code === 'too_small' || issue.code === 'too_big') && NUMBERS.has(issue.origin);
}

/** Numbers' own messages may say only what was expected, as in bounded-number.ts. */
function ownMessage(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  return isOfNumber(issue) && !message.startsWith('expected ') ? `expected ${message}` : message;
}

function messageIn(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (!FROM_LIBRARY.test(message)) return ownMessage(issue);
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${expectation(issue)}, found ${findReceived(message)}`;
    case 'invalid_format':
      return issue.pattern === undefined
        ? `expected a text of the form ${issue.format}`
        : `expected a text that matches ${issue.pattern}`;
    case 'unrecognized_keys':
      return `unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return unionMessage(issue);
    default: {
      const expected = expectation(issue);
      return expected === undefined ? message : `expected ${expected}`;
    }
  }
}

export function schemaProblem(
  issue: z.core.$ZodIssue,
  { whole = 'it', around = [] }: SchemaProblemOptions = {},
): string {
  return `${[...around, ...issue.path].join('.') || whole}: ${messageIn(issue)}`;
}

/** One text for each problem, at most `most`; the last one counts those that are left out. */
export function schemaProblems(
  { issues }: Pick<z.ZodError, 'issues'>,
  { most = 6, ...options }: SchemaProblemOptions & { readonly most?: number } = {},
): readonly string[] {
  const all = issues.map((issue) => schemaProblem(issue, options));
  return all.length <= most ? all : [...all.slice(0, most - 1), `and ${all.length - most + 1} more`];
}
