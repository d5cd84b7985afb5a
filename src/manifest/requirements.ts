import semver from 'semver';
import type { System } from '../measurement/system.js';
import { isSameFramework } from '../base/framework-name.js';
import type { AgentChoice } from './agents.js';
import { ANY_FRAMEWORK, frameworkText, type ModelFramework } from './fields.js';
import type { HardwareConstraint } from './hardware.js';
import type { SoftwareConstraint } from './software.js';

/** A System, or a part of one before its run options are chosen. */
export type Candidate = Readonly<
  Pick<System, 'framework' | 'frameworkVersion' | 'architecture' | 'processor' | 'cores' | 'memoryBytes'>
>;

export interface Requirements {
  readonly hardware: HardwareConstraint | undefined;
  readonly software: SoftwareConstraint | undefined;
  readonly models: readonly {
    readonly name: string;
    readonly manifest: { readonly framework: ModelFramework } | undefined;
  }[];
  /** Accepts any version of a required framework. */
  readonly allowVersion?: boolean | undefined;
  readonly agents: AgentChoice;
  /** Each needs a core. */
  readonly threads?: number | undefined;
}

const BYTES_PER_GIB = 2 ** 30;

export interface UnmetRequirement {
  readonly problem: string;
  /** Besides another system. */
  readonly remedy?: string;
}

function unmetHardware(constraint: HardwareConstraint, system: Candidate): readonly UnmetRequirement[] {
  const { architecture, processor, cores, memory } = constraint;
  const memoryGib = system.memoryBytes / BYTES_PER_GIB;
  const problems: string[] = [];
  if (architecture !== undefined && architecture !== system.architecture) {
    problems.push(`expected architecture ${architecture}, found ${system.architecture}`);
  }
  if (processor !== undefined && !system.processor.toLowerCase().includes(processor.toLowerCase())) {
    problems.push(`expected a processor "${processor}", found "${system.processor}"`);
  }
  if (cores !== undefined && system.cores < cores.min) {
    problems.push(`expected at least ${cores.min} cores, found ${system.cores}`);
  }
  if (memory !== undefined && memoryGib < memory.min_gib) {
    problems.push(`expected at least ${memory.min_gib} GiB of memory, found ${memoryGib.toFixed(1)} GiB`);
  }
  return problems.map((problem) => ({ problem: `hardware: ${problem}`, remedy: 'change `hardware` in the manifest' }));
}

function unmetThreads(threads: number, { cores }: Candidate): readonly UnmetRequirement[] {
  if (threads <= cores) return [];
  const problem = `threads: expected at least ${threads} cores, found ${cores}`;
  return [{ problem, remedy: 'ask for fewer with `threads` in the manifest' }];
}

export function meetsFramework(
  required: ModelFramework,
  { framework, frameworkVersion }: Pick<Candidate, 'framework' | 'frameworkVersion'>,
  allowVersion = false,
): boolean {
  if (required === ANY_FRAMEWORK) return true;
  if (!isSameFramework(required.name, framework)) return false;
  return allowVersion || semver.satisfies(frameworkVersion, required.version, { includePrerelease: true });
}

const VERSION_REMEDY = '--allow-version accepts other versions of a framework';

export const FRAMEWORK_REMEDY = `${VERSION_REMEDY}; \`framework: any\` in a model's manifest accepts every framework`;

const OF_SOFTWARE = { other: 'change `software` in the manifest', version: VERSION_REMEDY };

const OTHER_FRAMEWORK_REMEDY = 'export the model to ONNX, and give the ONNX file a manifest with `framework: any`';

function unmetFramework(
  who: string,
  required: ModelFramework,
  found: Pick<Candidate, 'framework' | 'frameworkVersion'>,
  allowVersion: boolean | undefined,
  remedies: { readonly other: string; readonly version: string },
): Required<UnmetRequirement> | undefined {
  if (required === ANY_FRAMEWORK || meetsFramework(required, found, allowVersion)) return undefined;
  const problem = `${who}: expected ${frameworkText(required)}, found ${found.framework} ${found.frameworkVersion}`;
  return { problem, remedy: isSameFramework(required.name, found.framework) ? remedies.version : remedies.other };
}

export function unmetByModel(
  name: string,
  required: ModelFramework,
  found: Pick<Candidate, 'framework' | 'frameworkVersion'>,
  allowVersion?: boolean,
): Required<UnmetRequirement> | undefined {
  const remedies = { other: OTHER_FRAMEWORK_REMEDY, version: FRAMEWORK_REMEDY };
  return unmetFramework(`model ${name}`, required, found, allowVersion, remedies);
}

export function findRemedies(unmet: readonly UnmetRequirement[]): readonly string[] {
  return [...new Set(unmet.flatMap(({ remedy }) => remedy ?? []))];
}

/** Without the manifests themselves. */
export function listRequirements(of: Requirements): Requirements {
  const { hardware, software, models, allowVersion, agents, threads } = of;
  const frameworks = models.map(({ name, manifest }) => {
    return { name, manifest: manifest === undefined ? undefined : { framework: manifest.framework } };
  });
  return {
    ...{ hardware, software, models: frameworks, agents, threads },
    ...(allowVersion === true ? { allowVersion } : {}),
  };
}

/** Empty where the evaluation may run. */
export function unmetRequirements(
  { hardware, software, models, allowVersion, threads = 1 }: Omit<Requirements, 'agents'>,
  system: Candidate,
): readonly UnmetRequirement[] {
  return [
    ...unmetThreads(threads, system),
    ...(hardware === undefined ? [] : unmetHardware(hardware, system)),
    ...[software && unmetFramework('software', software.framework, system, allowVersion, OF_SOFTWARE)].flatMap(
      (unmet) => unmet ?? [],
    ),
    ...models.flatMap(({ name, manifest }) => {
      return manifest === undefined ? [] : (unmetByModel(name, manifest.framework, system, allowVersion) ?? []);
    }),
  ];
}
