import { readFileSync } from 'node:fs';
import os from 'node:os';
import { type ReadSystemFile, readSystemFile } from '../../base/system-file.js';
import { packageVersion } from '../../predictor/package-version.js';
import { type Surroundings, TIMING_VARIABLES } from '../../measurement/surroundings.js';

const MAX_LENGTH = 300;

function formatLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').slice(0, MAX_LENGTH);
}

/** Podman writes the image and its digest into /run/.containerenv, Docker only leaves an empty file. */
export function containerIn(read: ReadSystemFile, environment: NodeJS.ProcessEnv): string | null {
  const podman = read('/run/.containerenv');
  if (podman !== undefined) {
    const [image, digest] = ['image', 'imageid'].map(
      (key) => new RegExp(`^${key}="?([^"\\n]+)"?$`, 'm').exec(podman)?.[1],
    );
    return formatLine(['podman', image, digest && `sha256:${digest}`].filter((part) => part !== undefined).join(' '));
  }
  if (read('/.dockerenv') !== undefined) return 'docker';
  return environment['KUBERNETES_SERVICE_HOST'] === undefined ? null : 'kubernetes';
}

function readLibc(): string | null {
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? null : `glibc ${header.glibcVersionRuntime}`;
}

/** Without loading it, because agents that only measure never do. */
function readDecoder(): string | null {
  try {
    const manifest = readFileSync(new URL('../package.json', import.meta.resolve('sharp')), 'utf8');
    return formatLine(`sharp ${packageVersion('sharp', JSON.parse(manifest))}`);
  } catch {
    return null;
  }
}

/** What this process runs in. Only variables of the list are told. */
export function describeSurroundings(
  read: ReadSystemFile = readSystemFile,
  environment: NodeJS.ProcessEnv = process.env,
): Surroundings {
  const set = TIMING_VARIABLES.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, formatLine(value)] as const];
  });
  return {
    node: process.versions.node,
    libc: readLibc(),
    kernel: os.release(),
    container: containerIn(read, environment),
    decoder: readDecoder(),
    environment: Object.fromEntries(set),
  };
}
