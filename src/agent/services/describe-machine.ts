import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { readSystemFile } from '../../base/system-file.js';
import type { SystemFacts } from '../../measurement/system.js';
import { type FrameworkName, FRAMEWORKS } from '../../predictor/frameworks.js';
import { describeSurroundings } from './describe-surroundings.js';
import { abilitiesWith, type AgentDescription } from '../agent-description.js';
import { allBytes } from '../memory-there.js';

/** Extensions with kernels of their own in ONNX Runtime's MLAS (platform.cpp) and oneDNN, as Linux spells them. */
const KERNEL_FEATURES = new Set(
  [
    'sse4_1 avx f16c fma avx2 avx_vnni avx_vnni_int8 avx_ne_convert',
    'avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16 avx512_fp16 amx_tile amx_int8 amx_bf16 amx_fp16',
    'asimd asimdhp asimddp fphp sve sve2 svei8mm svebf16 i8mm bf16 sme sme2',
  ].flatMap((names) => names.split(' ')),
);

/** The features in a Linux /proc/cpuinfo that decide which kernels a runtime uses, sorted. */
export function processorFeaturesIn(cpuInfo: string): readonly string[] {
  const flags = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(cpuInfo)?.[1] ?? '';
  return [...new Set(flags.split(/\s+/))].filter((flag) => KERNEL_FEATURES.has(flag)).sort();
}

/** The processor's name. Linux on ARM gives only numbers, which are used instead. */
export function findProcessorName(model: string | undefined, cpuInfo: string): string {
  if (model !== undefined && model.trim() !== '' && model !== 'unknown') return model.trim().replace(/\s+/g, ' ');
  const field = (name: string): string | undefined => new RegExp(`^${name}\\s*:\\s*(.*)$`, 'm').exec(cpuInfo)?.[1];
  const implementer = field('CPU implementer');
  const part = field('CPU part');
  return implementer === undefined || part === undefined ? 'unknown' : `implementer ${implementer} part ${part}`;
}

const CACHES_FOLDER = '/sys/devices/system/cpu/cpu0/cache';

/** The largest cache that the first core has, from sizes such as "32768K"; 0 where none is stated. */
function largestCacheBytes(sizes: readonly string[]): number {
  const units = new Map([
    ['K', 2 ** 10],
    ['M', 2 ** 20],
    ['G', 2 ** 30],
  ]);
  return sizes.reduce((largest, size) => {
    const match = /^(\d+)([KMG]?)$/.exec(size.trim());
    return Math.max(largest, match === null ? 0 : Number(match[1]) * (units.get(match[2] ?? '') ?? 1));
  }, 0);
}

function readCacheBytes(): number {
  try {
    const caches = readdirSync(CACHES_FOLDER).filter((name) => name.startsWith('index'));
    return largestCacheBytes(caches.map((name) => readFileSync(`${CACHES_FOLDER}/${name}/size`, 'latin1')));
  } catch {
    return 0;
  }
}

function readMachine(): Omit<SystemFacts, 'framework' | 'frameworkVersion' | 'devices'> {
  const cpuInfo = readSystemFile('/proc/cpuinfo') ?? '';
  return {
    processor: findProcessorName(os.cpus()[0]?.model, cpuInfo),
    architecture: process.arch,
    // Patch releases come weekly and change no latency.
    operatingSystem: `${os.type()} ${/^\d+(?:\.\d+)?/.exec(os.release())?.[0] ?? os.release()}`,
    cores: os.availableParallelism(),
    memoryBytes: allBytes(),
    cacheBytes: readCacheBytes(),
    processorFeatures: [...processorFeaturesIn(cpuInfo)],
  };
}

/** @param packageFolder of another package of the framework than the installed one */
export function describeAgent(frameworkName: FrameworkName, packageFolder?: string): AgentDescription {
  const { describe, keepsProfile } = FRAMEWORKS[frameworkName];
  const { name, version } = describe(packageFolder);
  const { traceLevels, abilities } = abilitiesWith(keepsProfile);
  return {
    ...readMachine(),
    framework: name,
    frameworkVersion: version,
    host: os.hostname(),
    providers: [],
    traceLevels,
    abilities: [...abilities, 'settings', 'load', 'run_once'],
    surroundings: describeSurroundings(),
  };
}

/** Default memory limit of a worker process: half of the machine's memory, so that the machine never swaps. */
export function defaultMemoryLimitBytes({ memoryBytes }: Pick<SystemFacts, 'memoryBytes'>): number {
  return memoryBytes / 2;
}
