import semver from 'semver';
import type { System } from '../measurement/system.js';
import { isSameFramework } from '../base/framework-name.js';
import type { AgentChoice } from './agents.js';
import { ANY_FRAMEWORK, frameworkText, type ModelFramework } from './fields.js';
import type { HardwareConstraint } from './hardware.js';
import type { SoftwareConstraint } from './software.js';

/** The subject of requirements: a System, or a part of one before its run options are chosen. */
export type Candidate = Readonly<
  Pick<System, 'framework' | 'frameworkVersion' | 'architecture' | 'processor' | 'cores' | 'memoryBytes'>
>;

/** The requirements of an evaluation and its models on a system, and the choice of agents, as plain data. */
export interface Requirements {
  readonly hardware: HardwareConstraint | undefined;
  readonly software: SoftwareConstraint | undefined;
  readonly models: readonly {
    readonly name: string;
    readonly manifest: { readonly framework: ModelFramework } | undefined;
  }[];
  /** Whether any version of a required framework is accepted. */
  readonly allowVersion?: boolean | undefined;
  readonly agents: AgentChoice;
}

const BYTES_PER_GIB = 2 ** 30;

function unmetHardware(constraint: HardwareConstraint, system: Candidate): readonly string[] {
  const { architecture, processor, cores, memory } = constraint;
  const memoryGib = system.memoryBytes / BYTES_PER_GIB;
  const unmet: string[] = [];
  if (architecture !== undefined && architecture !== system.architecture) {
    unmet.push(`hardware: expected architecture ${architecture}, found ${system.architecture}`);
  }
  if (processor !== undefined && !system.processor.toLowerCase().includes(processor.toLowerCase())) {
    unmet.push(`hardware: expected a processor "${processor}", found "${system.processor}"`);
  }
  if (cores !== undefined && system.cores < cores.min) {
    unmet.push(`hardware: expected at least ${cores.min} cores, found ${system.cores}`);
  }
  if (memory !== undefined && memoryGib < memory.min_gib) {
    unmet.push(`hardware: expected at least ${memory.min_gib} GiB of memory, found ${memoryGib.toFixed(1)} GiB`);
  }
  return unmet;
}

/** @param allowVersion whether every version is accepted */
export function meetsFramework(
  required: ModelFramework,
  { framework, frameworkVersion }: Pick<Candidate, 'framework' | 'frameworkVersion'>,
  allowVersion = false,
): boolean {
  if (required === ANY_FRAMEWORK) return true;
  if (!isSameFramework(required.name, framework)) return false;
  return allowVersion || semver.satisfies(frameworkVersion, required.version, { includePrerelease: true });
}

/** The unmet requirement as one line, with the required and the found framework; '' where it is met. */
export function unmetFramework(
  who: string,
  required: ModelFramework,
  found: Pick<Candidate, 'framework' | 'frameworkVersion'>,
  allowVersion = false,
): string {
  if (meetsFramework(required, found, allowVersion)) return '';
  return `${who}: expected ${frameworkText(required)}, found ${found.framework} ${found.frameworkVersion}`;
}

export const FRAMEWORK_REMEDY =
  "--allow-version accepts other versions of a framework; `framework: any` in a model's manifest accepts every framework";

const OTHER_FRAMEWORK_REMEDY = 'export the model to ONNX, and give the ONNX file a manifest with `framework: any`';

/** The advice for a model whose framework is not met. */
export function frameworkRemedy(required: ModelFramework, { framework }: Pick<Candidate, 'framework'>): string {
  const isOther = required !== ANY_FRAMEWORK && !isSameFramework(required.name, framework);
  return isOther ? OTHER_FRAMEWORK_REMEDY : FRAMEWORK_REMEDY;
}

export function requirementsOf({ hardware, software, models, allowVersion, agents }: Requirements): Requirements {
  const frameworks = models.map(({ name, manifest }) => {
    return { name, manifest: manifest === undefined ? undefined : { framework: manifest.framework } };
  });
  return { hardware, software, models: frameworks, agents, ...(allowVersion === true ? { allowVersion } : {}) };
}

/**
 * The requirements of the evaluation and its models that a system does not meet; one line each, empty where it may run.
 */
export function unmetRequirements(requirements: Omit<Requirements, 'agents'>, system: Candidate): readonly string[] {
  const { hardware, software, models, allowVersion } = requirements;
  const frameworks = [
    ...(software === undefined ? [] : [{ who: 'software', framework: software.framework }]),
    ...models.flatMap(({ name, manifest }) => {
      return manifest === undefined ? [] : [{ who: `model ${name}`, framework: manifest.framework }];
    }),
  ];
  return [
    ...(hardware === undefined ? [] : unmetHardware(hardware, system)),
    ...frameworks
      .map(({ who, framework }) => unmetFramework(who, framework, system, allowVersion))
      .filter((line) => line !== ''),
  ];
}
