import semver from 'semver';
import { PlatformError } from './errors.js';
import { isAny, isLatest } from './platform-name.js';
import { quoted } from './quoted.js';

/** `*` also for the newest version, which is chosen among the fitting ones. @throws PlatformError `usage` */
export function parseVersionRange(field: string, constraint: string): string {
  if (isAny(constraint) || isLatest(constraint)) return '*';
  const range = constraint.length <= 100 ? semver.validRange(constraint) : null;
  if (range !== null) return range;
  throw new PlatformError('usage', `${field}: ${quoted(constraint)} is not a version constraint such as ^1.20`);
}
