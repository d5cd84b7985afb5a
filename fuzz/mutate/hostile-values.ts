import type { Random } from '../random.js';

/** Names that every object of JavaScript has, and others that code often handles wrongly. */
const NAMES = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '',
  ' ',
  '0',
  'null',
  'NaN',
  '../../etc/passwd',
  '\u0000',
  '\u001b[2J',
  '\ud800',
  '"',
  ',',
  '\n',
  '0-0-0',
];

/** Numbers in the notation of JSON, most of them at the limit of some type. */
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '0.5',
  '1e-320',
  '1e308',
  '1e999',
  '-1e999',
  '65536',
  '1000000',
  '2147483648',
  '4294967295',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775808',
  '18446744073709551616',
];

const INTEGERS = [
  0n,
  1n,
  2n,
  127n,
  65_536n,
  10n ** 6n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];

const COUNTS = [2, 3, 10, 100, 1000, 20_000];

export function hostileName(random: Random): string {
  return random.oneIn(20) ? 'x'.repeat(20_000) : random.pick(NAMES);
}

/** As JSON writes it. */
export function hostileNumber(random: Random): string {
  return random.pick(NUMBERS);
}

/** From 0 to 2^64 - 1. */
export function hostileInteger(random: Random): bigint {
  return random.pick(INTEGERS);
}

/** How often something is repeated: mostly a few times. @param most at least 2 */
export function hostileCount(random: Random, most: number): number {
  return Math.min(most, random.oneIn(2) ? 2 : random.pick(COUNTS));
}
