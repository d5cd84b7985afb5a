import type { PageSection } from '../base/exporters/page.js';
import { distinctByContent } from '../base/distinct-by-content.js';
import { textTable } from '../base/text-table.js';

type Fact = readonly [name: string, value: string];

/** Documents have the provenance of each of their results at most so deep. */
const MAX_DEPTH = 4;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function inWords(key: string): string {
  return key.replaceAll('_', ' ');
}

function provenancesIn(document: unknown, depth = MAX_DEPTH): readonly object[] {
  if (!isObject(document) || depth === 0) return [];
  if ('provenance' in document) return isObject(document.provenance) ? [document.provenance] : [];
  return Object.values(document).flatMap((value) => provenancesIn(value, depth - 1));
}

function inOneLine(value: unknown): string {
  if (!isObject(value)) return String(value);
  if (Array.isArray(value)) return value.map(inOneLine).join(', ');
  const known = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  return known.map(([key, part]) => `${inWords(key)} ${inOneLine(part)}`).join('; ');
}

function factsOf(provenance: object): readonly Fact[] {
  return Object.entries(provenance).flatMap(([key, value]): readonly Fact[] => {
    const name = inWords(key);
    if (!isObject(value)) return value === null ? [] : [[name, String(value)]];
    if (Array.isArray(value)) return value.map((part: unknown) => [name, inOneLine(part)]);
    if (key !== 'reasons')
      return Object.entries(value).map(([of, part]) => [`${name}: ${inWords(of)}`, inOneLine(part)]);
    return Object.entries(value).map(([of, reason]) => [inWords(of), `not stated here: ${inOneLine(reason)}`]);
  });
}

/** A fact that not all results of a document have in common says which results it is of, by their order. */
function factsOfAll(results: readonly (readonly Fact[])[]): readonly Fact[] {
  return distinctByContent(results.flat()).map((fact): Fact => {
    const [name, value] = fact;
    const places = results.flatMap((facts, index) =>
      facts.some((other) => other[0] === name && other[1] === value) ? index + 1 : [],
    );
    const of = places.length === 1 ? 'result' : 'results';
    return places.length === results.length ? fact : [`${name} (of ${of} ${places.join(', ')})`, value];
  });
}

export function provenanceSections(document: unknown): readonly PageSection[] {
  const facts = factsOfAll(provenancesIn(document).map(factsOf)).filter(([, value]) => value !== '');
  if (facts.length === 0) return [];
  const columns = [
    { title: 'fact', cell: ([name]: Fact) => name },
    { title: 'value', cell: ([, value]: Fact) => value },
  ];
  return [{ title: 'Provenance', table: textTable(columns, facts) }];
}
