import fc from 'fast-check';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';

// fast-check for all property tests, which import it from here. PROPERTY_SEED sets the seed of all properties, so that a
// failure happens again; without it each run has other seeds.

const SEED = process.env['PROPERTY_SEED'];

/** The project's folder, seen from dist/test/support. */
const ROOT = join(import.meta.dirname, '../../..');

/** How to run the test file with the seed again; kept in out/failed-properties.txt as well. */
function commandFor(seed: number): string {
  return `PROPERTY_SEED=${seed} node --test ${relative(ROOT, process.argv[1] ?? '')}`;
}

function keep(command: string): void {
  mkdirSync(join(ROOT, 'out'), { recursive: true });
  appendFileSync(join(ROOT, 'out', 'failed-properties.txt'), `${new Date().toISOString()} ${command}\n`);
}

fc.configureGlobal({
  ...(SEED !== undefined && { seed: Number(SEED) }),
  reporter: (details) => {
    if (!details.failed) return;
    const command = commandFor(details.seed);
    if (SEED === undefined) keep(command);
    throw new Error(`${fc.defaultReportMessage(details)}\n\nAgain: ${command}`, { cause: details.errorInstance });
  },
});

const HALF_SURROGATES = { first: 0xd800, count: 0x800 };

/**
 * Any character of Unicode, as fast-check's unit `binary` for texts, which makes a table of all of them in each process:
 * half a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - HALF_SURROGATES.count).map(
  (index) => String.fromCodePoint(index < HALF_SURROGATES.first ? index : index + HALF_SURROGATES.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character || /\p{Surrogate}/u.test(character))
      throw new Error('no character');
    return code < HALF_SURROGATES.first ? code : code - HALF_SURROGATES.count;
  },
);

export default fc;
