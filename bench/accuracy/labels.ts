import { LABEL, svgLine, svgText, widthOf } from '../../src/web/plots/svg.js';

/** Radius around a point that labels leave free, in pixels. */
const POINT_RADIUS = 5;

/** Distances from a point to its label, in pixels; beyond the second one, a line connects them. */
const DISTANCES = [4, 12, 24, 40, 60, 90, 130, 180, 240] as const;

/** Number of directions from a point in which its label may be; the first free one is used. */
const DIRECTIONS = 16;

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A point in pixels. */
export interface LabelledPoint {
  readonly x: number;
  readonly y: number;
  readonly label: string;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function isInside({ left, top, right, bottom }: Box, area: Box): boolean {
  return left >= area.left && right <= area.right && top >= area.top && bottom <= area.bottom;
}

/** A label of that width whose nearest edge or corner is that far from the point. */
function boxAt({ x, y }: LabelledPoint, width: number, angle: number, distance: number): Box {
  const across = Math.cos(angle);
  const down = Math.sin(angle);
  const side = (part: number): number => (Math.abs(part) < 0.5 ? -0.5 : part > 0 ? 0 : -1);
  const reach = POINT_RADIUS + distance;
  const left = x + reach * across + side(across) * width;
  const top = y + reach * down + side(down) * LABEL.height;
  return { left, top, right: left + width, bottom: top + LABEL.height };
}

/** Every place that is tried for a label, the nearest first, right and left before above and below. */
function* boxesFor(point: LabelledPoint): Generator<{ readonly box: Box; readonly isFar: boolean }> {
  const width = widthOf(point.label);
  const turn = (2 * Math.PI) / DIRECTIONS;
  const angles = Array.from({ length: DIRECTIONS }, (_, i) => i * turn);
  const sideways = (angle: number): number => -Math.abs(Math.cos(angle));
  const sorted = angles.toSorted((a, b) => sideways(a) - sideways(b));
  for (const [i, distance] of DISTANCES.entries()) {
    for (const angle of sorted) yield { box: boxAt(point, width, angle, distance), isFar: i > 1 };
  }
}

function drawn({ x, y, label }: LabelledPoint, box: Box, isFar: boolean): string {
  const name = svgText(box.left, box.top + LABEL.ascent, label, 'class="label"');
  if (!isFar) return name;
  const nearest = [Math.min(Math.max(x, box.left), box.right), Math.min(Math.max(y, box.top), box.bottom)] as const;
  return svgLine('class="grid"', [x, y], nearest) + name;
}

/**
 * Names beside their points, within an area. A name covers no other name and no point. A line connects a point with a
 * name that is farther away. A name for which there is no room is left out: its point has it as its title.
 *
 * @param taken other boxes that no name may cover
 */
export function labelsBeside(
  labelled: readonly LabelledPoint[],
  { area, taken }: { readonly area: Box; readonly taken: readonly Box[] },
): string[] {
  const points = labelled.map(({ x, y }): Box => {
    return { left: x - POINT_RADIUS, top: y - POINT_RADIUS, right: x + POINT_RADIUS, bottom: y + POINT_RADIUS };
  });
  const occupied = [...taken, ...points];
  return labelled.flatMap((point) => {
    for (const { box, isFar } of boxesFor(point)) {
      if (!isInside(box, area) || occupied.some((other) => overlap(box, other))) continue;
      occupied.push(box);
      return [drawn(point, box, isFar)];
    }
    return [];
  });
}
