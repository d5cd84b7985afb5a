import { codeOf, messageOf, PlatformError } from './errors.js';

/** Not installed with this package, because few users need them and they are large. */
export interface OptionalPackages {
  /** The feature that needs them, as the subject of a sentence. */
  readonly feature: string;
  readonly packages: readonly string[];
}

function isMissing(error: unknown, packages: readonly string[]): boolean {
  return codeOf(error) === 'ERR_MODULE_NOT_FOUND' && packages.some((name) => messageOf(error).includes(`'${name}'`));
}

/** @returns PlatformError `unsupported` that says how to install a missing package, else the error itself */
export function explainMissing(error: unknown, { feature, packages }: OptionalPackages): unknown {
  if (!isMissing(error, packages)) return error;
  const missing = packages.length === 1 ? 'a package that is' : 'packages that are';
  const message = `${feature} needs ${missing} not installed; run: npm install ${packages.join(' ')}`;
  return new PlatformError('unsupported', message, { cause: error });
}
