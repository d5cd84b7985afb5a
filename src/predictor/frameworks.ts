import type { Framework, Predictor } from './predictor.js';
import { CHOSEN_PACKAGE, onnxRuntimeFramework } from './onnxruntime/framework.js';
import { onnxRuntimeWebFramework } from './onnxruntime-web/framework.js';

export interface FrameworkEntry {
  readonly describe: (folder?: string) => Framework;
  /** Names the folder of the package to load; absent where only the installed one can be. */
  readonly packageVariable?: string;
  readonly nodeFlags: readonly string[];
  readonly keepsThreads: boolean;
  /** Whether its predictor keeps a profile of kernels: bricks are measured together by it, and kernels traced. */
  readonly keepsProfile: boolean;
  readonly load: () => Promise<Predictor>;
}

export const FRAMEWORK_NAMES = ['onnxruntime', 'onnxruntime-web'] as const;

export type FrameworkName = (typeof FRAMEWORK_NAMES)[number];

export const DEFAULT_FRAMEWORK: FrameworkName = 'onnxruntime';

/** See docs/frameworks.md for how to add one. */
export const FRAMEWORKS: Readonly<Record<FrameworkName, FrameworkEntry>> = {
  onnxruntime: {
    describe: onnxRuntimeFramework,
    packageVariable: CHOSEN_PACKAGE,
    nodeFlags: [],
    keepsThreads: false,
    keepsProfile: true,
    load: async () => (await import('./onnxruntime/predictor.js')).onnxRuntimePredictor(),
  },
  'onnxruntime-web': {
    describe: () => onnxRuntimeWebFramework(),
    // V8's baseline compiler makes code that is 5 times slower, and V8 replaces it by optimized code at some later run.
    nodeFlags: ['--no-liftoff'],
    keepsThreads: true,
    keepsProfile: false,
    load: async () => (await import('./onnxruntime-web/predictor.js')).onnxRuntimeWebPredictor(),
  },
};
