import type { Target } from '../targets/target.js';

export async function targetsIn(module: string): Promise<readonly Target[]> {
  return ((await import(module)) as { readonly TARGETS: readonly Target[] }).TARGETS;
}
