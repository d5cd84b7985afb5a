import envPaths from 'env-paths';
import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { messageOf, PlatformError } from '../base/errors.js';
import { packageVersion } from './package-version.js';

/** Its versions can be chosen. */
const PACKAGE = 'onnxruntime-node';

const FORM = /^onnxruntime-node@(.+)$/;

/** As npm spells them: no ranges, no paths. */
const VERSION = /^\d+\.\d+\.\d+[\w.+-]*$/;

export interface RuntimePackage {
  readonly folder: string;
  readonly version: string;
}

function runtimesFolder(): string {
  return process.env['MLMODELSCOPE_RUNTIMES'] || join(envPaths('mlmodelscope', { suffix: '' }).data, 'runtimes');
}

export function isRuntimePackage(text: string): boolean {
  return FORM.test(text);
}

/**
 * `onnxruntime-node@VERSION` or `onnxruntime-node@FOLDER`. Nothing is loaded, downloaded or installed here.
 *
 * @throws PlatformError `usage` for another text, `not_found` where it is not installed
 */
export function findRuntimePackage(text: string): RuntimePackage {
  const [, named = ''] = FORM.exec(text) ?? [];
  if (named === '') {
    const expected = `expected ${PACKAGE}@VERSION or ${PACKAGE}@FOLDER, as in ${PACKAGE}@1.27.0`;
    throw new PlatformError('usage', `${text}: ${expected}`);
  }
  const isVersion = VERSION.test(named);
  if (!isVersion && !isAbsolute(named) && !named.startsWith('.')) {
    throw new PlatformError('usage', `${text}: ${named} is no version; a folder begins with / or ./`);
  }
  const prefix = join(runtimesFolder(), named);
  const folder = isVersion ? join(prefix, 'node_modules', PACKAGE) : resolve(named);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch (cause) {
    const remedy = isVersion
      ? `'npm install --prefix ${prefix} ${text}' installs it`
      : 'name the folder that has its package.json';
    throw new PlatformError('not_found', `${text} is not installed (${messageOf(cause)}); ${remedy}`, { cause });
  }
  const isOfRuntime =
    typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === PACKAGE;
  if (!isOfRuntime) throw new PlatformError('usage', `${folder} is not the package ${PACKAGE}`);
  const version = packageVersion(PACKAGE, manifest);
  if (isVersion && version !== named) {
    throw new PlatformError('usage', `${folder} has version ${version}, not ${named}; install that version there`);
  }
  return { folder, version };
}
