import { byPosition, type Note, type Place, type Problem, type Problems } from './problem.js';
import { quoted } from '../base/quoted.js';
import { sha256Of } from '../base/sha256.js';
import { parseYaml, type YamlFault, type YamlNode, type YamlPath } from './yaml-tree.js';

/** Lines end with LF, CR LF or CR, as in YAML. */
function positionsIn(text: string) {
  const lineStarts = [0];
  for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) lineStarts.push(lineBreak.index + lineBreak[0].length);
  return (offset: number) => {
    let low = 0;
    let high = lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
  };
}

export interface ManifestDocument {
  readonly ok: true;
  readonly file: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  readonly root: YamlNode;
  readonly problems: readonly Problem[];
  readonly repeatedKeys: readonly Problem[];
  readonly positionOf: ReturnType<typeof positionsIn>;
}

/** `models[0].name`; keys that are no plain words are quoted. */
export function formatPath(path: YamlPath): string {
  if (path.length === 0) return 'document';
  return path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`;
    if (!/^[\w.-]{1,60}$/.test(step)) return `${whole}[${quoted(step)}]`;
    return whole === '' ? step : `${whole}.${step}`;
  }, '');
}

function childOf(node: YamlNode | undefined, step: string | number): YamlNode | undefined {
  if (node?.kind === 'mapping') return node.entries.get(String(step))?.value;
  return node?.kind === 'sequence' && typeof step === 'number' ? node.items[step] : undefined;
}

export function nodeAt(root: YamlNode, path: YamlPath): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>(childOf, root);
}

/** For a missing value, the nearest one around it. */
function nearestTo(root: YamlNode, path: YamlPath): YamlNode {
  return nodeAt(root, path) ?? nearestTo(root, path.slice(0, -1));
}

/** A refused construct already has a problem. */
export function isRefused(root: YamlNode, path: YamlPath): boolean {
  return nearestTo(root, path).kind === 'refused';
}

export function describe(node: YamlNode | undefined): string {
  switch (node?.kind) {
    case undefined:
      return 'nothing';
    case 'sequence':
      return node.items.length === 0 ? 'an empty list' : `a list of ${node.items.length}`;
    case 'mapping':
      return node.entries.size === 0 ? 'an empty mapping' : 'a mapping';
    case 'refused':
      return 'a construct that manifests must not use';
    case 'scalar':
      if (node.value === null) return 'an empty value';
      return typeof node.value === 'string' ? quoted(node.value) : `the ${typeof node.value} ${node.text}`;
  }
}

export function problemAt(document: ManifestDocument, path: YamlPath, expected: string, found?: string): Problem {
  return { ...placeOf(document, path), expected, found: found ?? describe(nodeAt(document.root, path)) };
}

function placeOf({ file, root, positionOf }: ManifestDocument, path: YamlPath, offset?: number): Place {
  return { file, ...positionOf(offset ?? nearestTo(root, path).start), path: formatPath(path) };
}

/** Of the key itself rather than its value. */
function placeOfKey(document: ManifestDocument, path: YamlPath): Place {
  const parent = nodeAt(document.root, path.slice(0, -1));
  const entry = parent?.kind === 'mapping' ? parent.entries.get(String(path.at(-1))) : undefined;
  return placeOf(document, path, entry?.keyStart);
}

export function problemAtKey(document: ManifestDocument, path: YamlPath, expected: string, found: string): Problem {
  return { ...placeOfKey(document, path), expected, found };
}

export function noteAt(document: ManifestDocument, path: YamlPath, message: string): Note {
  return { ...placeOf(document, path), message };
}

export function noteAtKey(document: ManifestDocument, path: YamlPath, message: string): Note {
  return { ...placeOfKey(document, path), message };
}

export function problemOfFile(file: string, expected: string, found: string): Problem {
  return { file, line: 1, column: 1, path: 'document', expected, found };
}

function firstInvalidByte(bytes: Uint8Array): number {
  let valid = 0;
  let invalid = bytes.length;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >>> 1;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      valid = middle;
    } catch {
      invalid = middle;
    }
  }
  return valid;
}

/** @param maxEvents by default the limit of manifests */
export function parseDocument(file: string, bytes: Uint8Array, maxEvents?: number): ManifestDocument | Problems {
  let source: string;
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const offset = firstInvalidByte(bytes);
    const before = new TextDecoder().decode(bytes.subarray(0, offset), { stream: true });
    // Bytes below 0x80 are valid UTF-8, so that there are always two digits.
    const byte = `0x${(bytes[offset] ?? 0).toString(16)}`;
    const found = `the byte ${byte} at offset ${offset}, which is not valid UTF-8`;
    const problem = { ...positionsIn(before)(before.length), path: 'document', expected: 'UTF-8 text', found };
    return { ok: false, problems: [{ file, ...problem }] };
  }
  const positionOf = positionsIn(source);
  const { root, faults } = parseYaml(source, maxEvents);
  const problemOf = ({ offset, path, expected, found }: YamlFault): Problem => {
    return { file, ...positionOf(offset), path: formatPath(path), expected, found };
  };
  const [repeatedKeys, others] = [true, undefined].map((kind) =>
    faults.filter(({ isRepeatedKey }) => isRepeatedKey === kind).map(problemOf),
  ) as [Problem[], Problem[]];
  const problems = byPosition([...repeatedKeys, ...others]);
  if (root === undefined) return { ok: false, problems };
  const sha256 = sha256Of(bytes);
  return { ok: true, file, sha256, root, problems, repeatedKeys, positionOf };
}
