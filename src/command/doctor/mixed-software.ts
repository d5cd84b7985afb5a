import type { Provenance } from '../../agent/provenance.js';
import { SOFTWARE_FACTS } from '../../measurement/surroundings.js';
import type { Finding } from './finding.js';

/** Facts that no latency depends on, or that follow from the software. */
const OF_NO_LATENCY: ReadonlySet<string> = new Set('fingerprint decoder kernel container'.split(' '));

function differing(provenances: readonly Provenance[]): readonly string[] {
  const values = new Map<string, Set<string>>();
  for (const { stack, surroundings } of provenances) {
    for (const [aspect, value] of Object.entries({ ...stack, ...surroundings })) {
      if (value !== null) values.set(aspect, (values.get(aspect) ?? new Set()).add(JSON.stringify(value)));
    }
  }
  return [...values].flatMap(([aspect, different]) => (different.size > 1 ? [aspect] : []));
}

/** A finding where the results of one document differ in software and in something else too. */
export function mixedSoftware(provenances: readonly (Provenance | null)[]): Finding[] {
  const aspects = differing(provenances.flatMap((one) => one ?? []));
  const software = aspects.filter((aspect) => SOFTWARE_FACTS.has(aspect));
  const others = aspects.filter((aspect) => !SOFTWARE_FACTS.has(aspect) && !OF_NO_LATENCY.has(aspect));
  if (software.length === 0 || others.length === 0) return [];
  return [
    {
      id: 'software_differs',
      level: 'refuse',
      found: `the results differ in software (${software.join(', ')}) and in ${others.join(', ')}`,
      why: 'a difference between them cannot be put down to one of the two',
      remedy: 'compare results that differ in one of them: measure all with the same software, or all on one machine',
    },
  ];
}
