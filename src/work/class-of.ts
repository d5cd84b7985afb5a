import { ANY_RUN, identifySystem, type SystemFacts } from '../measurement/system.js';

/** The class of a system, independent of its run options: the fingerprint with one thread. */
export function computeClass(facts: SystemFacts): string {
  return identifySystem(facts, ANY_RUN).fingerprint;
}
