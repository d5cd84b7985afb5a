import type { DetectedBox } from './feature.js';

type ScoredBox = Omit<DetectedBox, 'label'>;

function computeArea({ xmin, xmax, ymin, ymax }: ScoredBox): number {
  return (xmax - xmin) * (ymax - ymin);
}

/** From 0 to 1; 0 for two boxes without an area. */
export function computeOverlap(a: ScoredBox, b: ScoredBox): number {
  const width = Math.min(a.xmax, b.xmax) - Math.max(a.xmin, b.xmin);
  const height = Math.min(a.ymax, b.ymax) - Math.max(a.ymin, b.ymin);
  if (width <= 0 || height <= 0) return 0;
  const both = width * height;
  return both / (computeArea(a) + computeArea(b) - both);
}

/**
 * Greedy, as torchvision.ops.batched_nms; with `acrossClasses`, as torchvision.ops.nms.
 *
 * @param boxes the best first
 */
export function suppressOverlaps<T extends ScoredBox>(
  boxes: readonly T[],
  { iou, acrossClasses }: { readonly iou: number; readonly acrossClasses: boolean },
): readonly T[] {
  const kept: T[] = [];
  for (const box of boxes) {
    const isCovered = kept.some((better) => {
      return (acrossClasses || better.index === box.index) && computeOverlap(better, box) > iou;
    });
    if (!isCovered) kept.push(box);
  }
  return kept;
}
