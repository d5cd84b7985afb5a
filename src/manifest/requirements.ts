import semver from 'semver';
import type { System } from '../measurement/system.js';
import type { FrameworkConstraint } from './fields.js';
import type { HardwareConstraint } from './hardware.js';
import type { SoftwareConstraint } from './software.js';

/** The subject of requirements: a System, or a part of one before its run options are chosen. */
export type Candidate = Readonly<
  Pick<System, 'framework' | 'frameworkVersion' | 'architecture' | 'processor' | 'cores' | 'memoryBytes'>
>;

/** The requirements of an evaluation and its models on a system, as plain data. */
export interface Requirements {
  readonly hardware: HardwareConstraint | undefined;
  readonly software: SoftwareConstraint | undefined;
  readonly models: readonly {
    readonly name: string;
    readonly manifest: { readonly framework: FrameworkConstraint } | undefined;
  }[];
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

/** Whether the framework is the one that is required, in a version that will do. */
export function meetsFramework(
  { name, version }: FrameworkConstraint,
  { framework, frameworkVersion }: Pick<Candidate, 'framework' | 'frameworkVersion'>,
): boolean {
  if (name !== framework.toLowerCase()) return false;
  return semver.satisfies(frameworkVersion, version, { includePrerelease: true });
}

function unmetFramework(who: string, constraint: FrameworkConstraint, system: Candidate): readonly string[] {
  if (meetsFramework(constraint, system)) return [];
  const { name, version } = constraint;
  return [`${who}: expected ${name} ${version}, found ${system.framework} ${system.frameworkVersion}`];
}

/** Nothing but the requirements. */
export function requirementsOf({ hardware, software, models }: Requirements): Requirements {
  const frameworks = models.map(({ name, manifest }) => {
    return { name, manifest: manifest === undefined ? undefined : { framework: manifest.framework } };
  });
  return { hardware, software, models: frameworks };
}

/**
 * The requirements of the evaluation and its models that a system does not meet; one line each, empty where it may run.
 */
export function unmetRequirements(requirements: Requirements, system: Candidate): readonly string[] {
  const { hardware, software, models } = requirements;
  return [
    ...(hardware === undefined ? [] : unmetHardware(hardware, system)),
    ...(software === undefined ? [] : unmetFramework('software', software.framework, system)),
    ...models.flatMap(({ name, manifest }) => {
      return manifest === undefined ? [] : unmetFramework(`model ${name}`, manifest.framework, system);
    }),
  ];
}
