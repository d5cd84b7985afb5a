import { createRequire } from 'node:module';

interface PackageJson {
  readonly version: string;
}

/** This package's version, from the package.json two folders above dist/src. */
export const PLATFORM_VERSION = (createRequire(import.meta.url)('../../../package.json') as PackageJson).version;
