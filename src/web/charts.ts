import { groupedBy } from '../base/grouped-by.js';
import { maxOf } from '../base/long-lists.js';
import { Markup, markup } from '../base/markup.js';
import { sumOf } from '../base/sum-of.js';
import { linearScale } from './plots/svg.js';

// Boxes rather than SVG, so that texts keep their size on narrow screens.

export interface Range {
  readonly name: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly other?: number | null;
  /** The same in words. */
  readonly text: string;
  readonly hint?: string;
}

export interface RangeChart {
  readonly unit: string;
  readonly words: { readonly value: string; readonly interval: string; readonly other?: string };
  readonly ranges: readonly Range[];
}

function percentText(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

function ticksMarkup(ticks: readonly number[], at: (value: number) => number): readonly Markup[] {
  return ticks.map((tick) => markup`<i class="grid" style="left:${percentText(at(tick))}"></i>`);
}

/** On one scale from zero; undefined where no value is known. */
export function rangeChart({ unit, words, ranges }: RangeChart): Markup | undefined {
  const known = ranges.flatMap(({ value, high, other }) => [value, high, other ?? null].filter((one) => one !== null));
  const highest = Math.max(0, maxOf(known.filter(Number.isFinite)));
  if (highest === 0) return undefined;
  const { at, ticks } = linearScale(highest, [0, 1]);
  const left = (value: number): string => `left:${percentText(at(value))}`;
  const rows = ranges.map(({ name, value, low, high, other = null, text, hint }) => {
    const band =
      low === null || high === null
        ? undefined
        : markup`<i class="band" style="${left(low)};width:${percentText(at(high) - at(low))}"></i>`;
    const point = value === null ? undefined : markup`<i class="point" style="${left(value)}"></i>`;
    const mark = other === null ? undefined : markup`<i class="other" style="${left(other)}"></i>`;
    return markup`<li title="${hint ?? `${name}: ${text}`}"><span class="name">${name}</span><span class="track" aria-hidden="true">${ticksMarkup(ticks, at)}${band}${point}${mark}</span><span class="numbers">${text}</span></li>\n`;
  });
  const axis = ticks.map((tick) => markup`<span style="${left(tick)}">${String(Number(tick.toPrecision(6)))}</span>`);
  const keys = [
    ['band', words.interval, ranges.some(({ low, high }) => low !== null && high !== null)],
    ['point', words.value, true],
    ['other', words.other ?? '', ranges.some(({ other }) => other != null)],
  ] as const;
  const key = keys.flatMap(([kind, word, isThere]) =>
    isThere ? [markup`<span><i class="${kind}"></i>${word}</span>`] : [],
  );
  return markup`<p class="key" aria-hidden="true">${key}</p>
<ul class="ranges">
${rows}<li class="axis" aria-hidden="true"><span class="name">${unit}</span><span class="track">${axis}</span><span class="numbers"></span></li>
</ul>`;
}

/** Of latencies of estimates in ms, with their intervals. */
export function latencyChart(ranges: readonly Range[], other?: string): Markup | undefined {
  const words = { value: 'estimate', interval: 'its 95 % interval', ...(other !== undefined && { other }) };
  return rangeChart({ unit: 'ms', words, ranges });
}

export interface Histogram {
  readonly name: string;
  readonly from: number;
  readonly step: number;
  readonly counts: readonly number[];
}

/** Each on its own scale. */
export function histogramChart(unit: string, histograms: readonly Histogram[]): Markup | undefined {
  if (histograms.length === 0) return undefined;
  const digits = (value: number): string => String(Number(value.toPrecision(4)));
  const rows = histograms.map(({ name, from, step, counts }) => {
    const highest = Math.max(1, maxOf(counts));
    const bars = counts.map((count, index) => {
      const start = from + index * step;
      const tip = `${name}: ${count} between ${digits(start)} and ${digits(start + step)} ${unit}`;
      return markup`<i title="${tip}" style="height:${percentText(count / highest)}"></i>`;
    });
    const end = from + counts.length * step;
    return markup`<figure class="histogram"><figcaption>${name}</figcaption><div class="bars" aria-hidden="true">${bars}</div><div class="ends"><span>${digits(from)} ${unit}</span><span>${digits(end)} ${unit}</span></div></figure>\n`;
  });
  return markup`<div class="histograms">${rows}</div>`;
}

/** A part of a whole, and its own parts. */
export interface PartOfTime {
  readonly name: string;
  readonly ms: number;
  readonly parts?: readonly PartOfTime[];
  readonly hint?: string;
}

/** The parts of a kind are together. */
export function partsByKind(name: string, parts: readonly (PartOfTime & { readonly kind: string })[]): PartOfTime {
  const kinds = [...groupedBy(parts, ({ kind }) => kind)].map(([kind, of]): PartOfTime => {
    return { name: kind, ms: sumOf(of.map(({ ms }) => ms)), parts: of };
  });
  return { name, ms: sumOf(parts.map(({ ms }) => ms)), parts: kinds };
}

/** Smaller parts are drawn together. */
const MIN_SHARE = 0.004;

/** Narrower parts have no room for their name. */
const MIN_NAMED_SHARE = 0.02;

/** Further operators share the last. */
const COLORS = 6;

/** The largest first, and one for all that cannot be seen. */
function seenParts(parts: readonly PartOfTime[], least: number): readonly PartOfTime[] {
  const sorted = parts.toSorted((a, b) => b.ms - a.ms);
  const seen = sorted.filter(({ ms }) => ms >= least);
  const rest = sorted.slice(seen.length);
  if (rest.length < 2) return sorted;
  return [...seen, { name: `${rest.length} smaller`, ms: sumOf(rest.map(({ ms }) => ms)) }];
}

/** From left to right the largest first, each above its parts. */
export function icicleChart(wholes: readonly PartOfTime[]): Markup | undefined {
  const longest = Math.max(0, maxOf(wholes.map(({ ms }) => ms)));
  if (!(longest > 0) || !Number.isFinite(longest)) return undefined;
  const names = wholes.flatMap(({ parts = [] }) => parts);
  const totals = new Map<string, number>();
  for (const { name, ms } of names) totals.set(name, (totals.get(name) ?? 0) + ms);
  const byTime = [...totals].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const colors = new Map(byTime.map((name, index) => [name, Math.min(index, COLORS - 1)]));
  const node = (part: PartOfTime, whole: PartOfTime, color: number | undefined): Markup => {
    const share = `${((100 * part.ms) / whole.ms).toFixed(1)} %`;
    const tip = part.hint ?? `${part.name}: ${part.ms.toPrecision(4)} ms, ${share} of ${whole.name}`;
    const kind = color === undefined ? '' : ` n${color}`;
    const text = part === whole ? `${part.name} ${part.ms.toPrecision(4)} ms` : `${part.name} ${share}`;
    const shown = part === whole || part.ms >= longest * MIN_NAMED_SHARE ? text : '';
    const parts = seenParts(part.parts ?? [], whole.ms * MIN_SHARE);
    return markup`<div class="node${kind}" style="flex-grow:${((1000 * part.ms) / whole.ms).toFixed(2)}"><span title="${tip}">${shown}</span>${
      parts.length === 0
        ? undefined
        : markup`<div class="parts">${parts.map((one) => node(one, whole, color ?? colors.get(one.name)))}</div>`
    }</div>`;
  };
  return markup`<div aria-hidden="true">${wholes.flatMap((whole) =>
    whole.ms > 0
      ? [
          markup`<div class="icicle" style="width:${percentText(whole.ms / longest)}">${node(whole, whole, undefined)}</div>\n`,
        ]
      : [],
  )}</div>`;
}

export function drawn(svg: string): Markup {
  return Markup.trusted(`<div class="drawing">${svg}</div>`);
}
