import {
  COMMAND_DEFAULTS,
  FRAMEWORK_NAMES,
  type FrameworkName,
  isRuntimePackage,
  numberIn,
  PlatformError,
  type RuntimePackage,
  findRuntimePackage,
  runtimeSettings,
  schemaProblems,
  SESSION_KEYS,
  sessionProblem,
  threadsSchema,
  z,
} from '../../../src/plugin-api.js';

const settingsSchema = z.strictObject({ threads: threadsSchema.optional(), ...runtimeSettings });

export interface Side {
  readonly text: string;
  /** Address; undefined: an agent on this machine. */
  readonly agent: string | undefined;
  readonly framework: FrameworkName | undefined;
  readonly runtime: RuntimePackage | undefined;
  readonly threads: number;
  readonly settings: Omit<z.output<typeof settingsSchema>, 'threads'>;
}

const DEFAULT = 'default';

const KEYS = ['agent', 'framework', ...Object.keys(settingsSchema.shape).filter((key) => key !== 'session')];

const EXPECTED = `expected ${DEFAULT}, onnxruntime-node@VERSION, or KEY=VALUE with one of the keys ${KEYS.join(', ')} or a key of the session; several parts with commas between them`;

/** @throws PlatformError `usage` for another text, `not_found` for a package that is not installed */
export function parseSide(text: string): Side {
  const wrong = (problem: string): PlatformError => new PlatformError('usage', `side ${text}: ${problem}`);
  const values = new Map<string, string | number>();
  const session = new Map<string, string>();
  const given = new Set<string>();
  let runtime: RuntimePackage | undefined;
  let agent: string | undefined;
  let framework: FrameworkName | undefined;
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/.exec(part) ?? [];
    if (part === DEFAULT) continue;
    if (given.has(key)) throw wrong(`${key} is there twice; leave one of the two out`);
    if (key !== '') given.add(key);
    if (isRuntimePackage(part)) runtime = findRuntimePackage(part);
    else if (key === 'agent') agent = value;
    else if (key === 'framework') {
      framework = FRAMEWORK_NAMES.find((name) => name === value);
      if (framework === undefined) throw wrong(`framework: expected ${FRAMEWORK_NAMES.join(' or ')}`);
    } else if (SESSION_KEYS.some((name) => name === key)) {
      const problem = sessionProblem(key, value);
      if (problem !== undefined) throw wrong(problem);
      session.set(key, value);
    } else if (KEYS.includes(key)) values.set(key, Number.isNaN(numberIn(value)) ? value : numberIn(value));
    else throw wrong(part === text ? EXPECTED : `${part}: ${EXPECTED}`);
  }
  const { success, data, error } = settingsSchema.safeParse({
    ...Object.fromEntries(values),
    session: Object.fromEntries(session),
  });
  if (!success) throw wrong(schemaProblems(error, { whole: 'side', most: KEYS.length }).join('; '));
  if (agent !== undefined && (framework ?? runtime) !== undefined) {
    throw wrong('an agent has its own framework; leave one of the two out');
  }
  if (runtime !== undefined && framework !== undefined && framework !== 'onnxruntime') {
    throw wrong('a package of onnxruntime-node is of the framework onnxruntime; leave one of the two out');
  }
  const { threads = COMMAND_DEFAULTS.threads, ...settings } = data;
  return { text, agent, framework, runtime, threads, settings };
}

export function isSide(text: string): boolean {
  return text === DEFAULT || isRuntimePackage(text) || /^[\w.]+=/.test(text);
}

/** Two sides with the same place have the same agent. */
export function placeKey({ agent, framework, runtime }: Side): string {
  return JSON.stringify([agent, framework, runtime?.folder]);
}
