import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { packageVersion } from '../../predictor/package-version.js';
import { type Surroundings, TIMING_VARIABLES } from '../../measurement/surroundings.js';

/** Longest text that a description may have. */
const MAX_LENGTH = 300;

/** A file of the system; undefined where it is not there. */
export type ReadText = (path: string) => string | undefined;

function readText(path: string): string | undefined {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function lineOf(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, MAX_LENGTH);
}

/** Podman writes the image and its digest into /run/.containerenv, Docker only leaves an empty file. */
export function containerIn(read: ReadText, environment: NodeJS.ProcessEnv): string | null {
  const podman = read('/run/.containerenv');
  if (podman !== undefined) {
    const [image, digest] = ['image', 'imageid'].map(
      (key) => new RegExp(`^${key}="?([^"\\n]+)"?$`, 'm').exec(podman)?.[1],
    );
    return lineOf(['podman', image, digest && `sha256:${digest}`].filter((part) => part !== undefined).join(' '));
  }
  if (read('/.dockerenv') !== undefined) return 'docker';
  return environment['KUBERNETES_SERVICE_HOST'] === undefined ? null : 'kubernetes';
}

/** glibc's version; null with another C library. */
function libcOf(): string | null {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? null : `glibc ${header.glibcVersionRuntime}`;
}

/** Without loading it, because agents that only measure never do. */
function decoderOf(): string | null {
  try {
    const manifest = readFileSync(new URL('../package.json', import.meta.resolve('sharp')), 'utf8');
    return lineOf(`sharp ${packageVersion('sharp', JSON.parse(manifest))}`);
  } catch {
    return null;
  }
}

/** What this process runs in. Only variables of the list are told. */
export function describeSurroundings(
  read: ReadText = readText,
  environment: NodeJS.ProcessEnv = process.env,
): Surroundings {
  const set = TIMING_VARIABLES.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, lineOf(value)] as const];
  });
  return {
    node: process.versions.node,
    libc: libcOf(),
    kernel: os.release(),
    container: containerIn(read, environment),
    decoder: decoderOf(),
    environment: Object.fromEntries(set),
  };
}
