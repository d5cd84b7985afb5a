import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { parseBoundedJson } from '../../base/bounded-json.js';
import { counted } from '../../base/counted.js';
import { distinctByContent } from '../../base/distinct-by-content.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { readRegularFile } from '../../base/regular-file.js';
import { type Finding, runChecks, sorted } from './finding.js';
import { findingOfWarning } from './machine.js';
import { measurementFindings } from './measurements.js';
import { mixedSoftware } from './mixed-software.js';
import { CHECKS, documentSchema, type ResultDocument } from './result-checks.js';

const MAX_BYTES = 256 * 2 ** 20;

/** Several evaluations, or one on several systems. */
const severalSchema = z.union([
  z.looseObject({ reports: z.array(z.unknown()).min(1) }).transform(({ reports }) => reports),
  z.looseObject({ systems: z.array(z.looseObject({ result: z.unknown() })).min(1) }).transform(({ systems }) => {
    return systems.map(({ result }) => result).filter((result) => result !== null);
  }),
]);

/** Checks of models with bricks find these themselves. */
const OF_BRICKS: ReadonlySet<string> = new Set(['kernels', 'values']);

function warningFindings({ warnings, models }: ResultDocument): Finding[] {
  const hasBricks = (models ?? []).some(({ bricks }) => bricks !== null);
  return (warnings ?? [])
    .map((warning) => {
      return findingOfWarning(typeof warning === 'string' ? { cause: 'noise', message: warning } : warning);
    })
    .filter(({ id }) => !hasBricks || !OF_BRICKS.has(id));
}

/** Which of several results each is, in words: "batch 1, 2 threads"; a number where that does not tell them apart. */
function nameDocuments(documents: readonly ResultDocument[]): readonly string[] {
  const texts = documents.map(({ settings, system }) => {
    const batch = settings?.batch ?? null;
    const threads = system?.threads ?? null;
    const parts = [batch === null ? '' : `batch ${batch}`, threads === null ? '' : counted(threads, 'thread')];
    return parts.filter(Boolean).join(', ');
  });
  return new Set(texts).size === texts.length ? texts : texts.map((_, index) => `result ${index + 1}`);
}

export function resultFindings(content: unknown): Finding[] {
  const several = severalSchema.safeParse(content).data ?? [content];
  // A document in which nothing can be recognized has no provenance.
  const read = several.map((one) => ({
    one,
    document: documentSchema.safeParse(one).data ?? documentSchema.parse({}),
  }));
  const ofEach = read.map(({ one, document }) => {
    const checked = runChecks(CHECKS, document);
    // The warning of the report is about the same spread.
    const isSpread = checked.some(({ id }) => id === 'wide_spread');
    const warned = warningFindings(document).filter(({ id }) => id !== 'spread' || !isSpread);
    return [...checked, ...warned, ...measurementFindings(one)];
  });
  const names = nameDocuments(read.map(({ document }) => document));
  const isOfAll = ({ id, found }: Finding): boolean => {
    return ofEach.every((findings) => findings.some((other) => other.id === id && other.found === found));
  };
  const all = ofEach.flatMap((findings, index) => {
    return findings.map((each) => (isOfAll(each) ? each : { ...each, found: `${names[index]}: ${each.found}` }));
  });
  const mixed = mixedSoftware(read.map(({ document }) => document.provenance ?? null));
  return sorted([...mixed, ...distinctByContent(all)]);
}

const WRITERS = '`dlbricks run`, `latency`, `evaluate` and other commands write one with --export-json';

/** A document of results, or the first of its JSON lines. @throws PlatformError `usage` where the file is none */
export async function readResult(path: string): Promise<unknown> {
  const file = await readRegularFile(path, MAX_BYTES);
  const refusal = (found: string): PlatformError =>
    new PlatformError('usage', `${path}: expected a document of results, found ${found}; ${WRITERS}`);
  if (!file.ok) throw refusal(file.found);
  if (!isUtf8(file.bytes) || file.bytes.includes(0)) throw refusal('a file that is no UTF-8 text');
  const text = file.bytes.toString('utf8');
  let content: unknown;
  try {
    content = parseBoundedJson(text);
  } catch (error) {
    // Predictions are lines, each a document, of which the first has the provenance.
    const [line = ''] = text.split('\n', 1);
    try {
      content = parseBoundedJson(line);
    } catch {
      throw refusal(`no JSON (${messageOf(error)})`);
    }
  }
  const isResult = z
    .union([
      z.looseObject({ provenance: z.unknown() }).refine((document) => 'provenance' in document),
      z.looseObject({ models: z.array(z.unknown()) }),
      z.looseObject({ measurements: z.array(z.unknown()) }),
      severalSchema,
    ])
    .safeParse(content).success;
  if (!isResult) throw refusal('another JSON document');
  return content;
}
