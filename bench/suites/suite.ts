import { ICPE2020 } from '../../src/zoo/architectures/icpe2020/index.js';
import { MODERN } from '../../src/zoo/architectures/modern/index.js';

/** The project's targets for a suite, at the kernel cut with one thread. */
interface Targets {
  /** One run of every model over one run of every unique brick. */
  readonly paperRatio?: number;
  readonly wallRatio: number;
  /** The same, with identical graphs counted once. */
  readonly wallRatioOnce?: number;
  readonly meanErrorPercent: number;
  readonly worstErrorPercent?: number;
}

/** Models that one document is about. */
export interface ModelSuite {
  /** Name of its manifest in manifests/evaluations, and of its document. */
  readonly name: 'icpe2020' | 'modern';
  readonly title: string;
  readonly about: string;
  /** Names of its models, in the order of the document. */
  readonly models: readonly string[];
  readonly targets: Targets;
}

export const SUITES: readonly ModelSuite[] = [
  {
    name: 'icpe2020',
    title: 'The fifty models of the paper',
    about:
      'The evaluation of Li, Dakkak, Xiong and Hwu, DLBricks, ICPE 2020, with [the same models](../zoo.md#the-models-of-the-paper).',
    models: ICPE2020.map(({ name }) => name),
    targets: { paperRatio: 4.4, wallRatio: 6, wallRatioOnce: 4, meanErrorPercent: 2, worstErrorPercent: 8 },
  },
  {
    name: 'modern',
    title: 'The models of today',
    about: 'Models that people run today; [the zoo](../zoo.md#the-models-of-today) describes each of them.',
    models: MODERN.map(({ name }) => name),
    targets: { wallRatio: 2, meanErrorPercent: 3 },
  },
];
