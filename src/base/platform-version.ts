import { createRequire } from 'node:module';

interface PackageJson {
  readonly version: string;
}

export const PLATFORM_VERSION = (createRequire(import.meta.url)('../../../package.json') as PackageJson).version;
