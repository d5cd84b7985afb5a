import { counted } from '../../base/counted.js';
import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';
import { elementCount, ELEMENT_TYPES, type ElementType, hasNumbers } from '../model/element-type.js';
import { type InputValues, MAX_LISTED_VALUES, type Model, type TensorType } from '../model/model.js';
import { listedValues } from '../model/listed-values.js';
import { listed } from '../model/node-label.js';
import { type NpyArray, readNpy } from './npy-file.js';
import { findStaticType } from '../model/static-type.js';

export type GivenText =
  { readonly kind: 'values'; readonly values: InputValues } | { readonly kind: 'file'; readonly path: string };

const RANGE = /^(?<low>-?[\d.]+(?:e[+-]?\d+)?)\.\.(?<high>-?[\d.]+(?:e[+-]?\d+)?)$/i;
const FILE = /\.npy$/i;

function parseNumber(text: string): number | undefined {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) ? undefined : value;
}

/** Reads a range such as `0..127`, a number, or numbers with commas; undefined where the text is none of them. */
export function parseInputValues(text: string): InputValues | undefined {
  const range = RANGE.exec(text)?.groups;
  if (range !== undefined) {
    const low = Number(range['low']);
    const high = Number(range['high']);
    return Number.isFinite(low) && Number.isFinite(high) && low <= high ? { low, high } : undefined;
  }
  const list = text
    .replace(/^\[(.*)\]$/s, '$1')
    .split(',')
    .map((part) => parseNumber(part.trim()));
  if (list.length > MAX_LISTED_VALUES) return undefined;
  return list.every((value) => value !== undefined) ? listedValues(list) : undefined;
}

export function parseGivenText(text: string): GivenText | undefined {
  if (FILE.test(text)) return { kind: 'file', path: text };
  const values = parseInputValues(text);
  return values && { kind: 'values', values };
}

/** Least and largest number of an element type; undefined for a type whose values cannot be given. */
function boundsOf(elementType: ElementType): readonly [number, number] | undefined {
  const { kind, bits } = ELEMENT_TYPES[elementType];
  if (kind === 'boolean') return [0, 1];
  if (!hasNumbers(elementType)) return undefined;
  if (kind === 'float') return [-Number.MAX_VALUE, Number.MAX_VALUE];
  const most = Math.min(2 ** bits, Number.MAX_SAFE_INTEGER);
  return elementType.startsWith('u') ? [0, most - 1] : [-most / 2, most / 2 - 1];
}

function findProblem({ low, high, list }: InputValues, { elementType, dims }: TensorType): string | undefined {
  const bounds = boundsOf(elementType);
  if (bounds === undefined) return `it has elements of ${elementType}, whose values cannot be given`;
  const isWhole = ELEMENT_TYPES[elementType].kind === 'float' || [low, high, ...(list ?? [])].every(Number.isInteger);
  if (!isWhole) return `its elements are whole numbers (${elementType})`;
  // Also true for NaN.
  if (!(low >= bounds[0] && high <= bounds[1])) return `${elementType} is from ${bounds[0]} to ${bounds[1]}`;
  const count = elementCount(dims);
  if (list === undefined || list.length === count) return undefined;
  return `it has ${counted(count, 'element')} ([${dims.join(', ')}]), and ${counted(list.length, 'value was', 'values were')} given`;
}

function problemOfArray({ elementType, dims }: NpyArray, type: TensorType): string | undefined {
  if (elementType === type.elementType && dims.join() === type.dims.join()) return undefined;
  return `it is ${type.elementType} [${type.dims.join(', ')}], and the file has ${elementType} [${dims.join(', ')}]`;
}

async function valuesFor(given: GivenText, type: TensorType): Promise<InputValues | string> {
  if (given.kind === 'values') return findProblem(given.values, type) ?? given.values;
  const array = await readNpy(given.path);
  const values = listedValues(array.values);
  return problemOfArray(array, type) ?? findProblem(values, type) ?? values;
}

/** Ignores unknown names. @param model bound @throws PlatformError `usage`: a value does not fit, or no file */
export async function withGivenValues(model: Model, texts: ReadonlyMap<string, GivenText>): Promise<Model> {
  const given = new Map<string, InputValues>();
  for (const [name, text] of texts) {
    const type = findStaticType(model.graph.types.get(name));
    if (!model.graph.inputs.includes(name) || type === undefined) continue;
    given.set(name, fitting(model, name, await valuesFor(text, type)));
  }
  return withInputValues(model, given);
}

/** The same for values that were read already. @throws PlatformError `usage` where a value does not fit its input */
export function withInputValues(model: Model, values: ReadonlyMap<string, InputValues>): Model {
  const given = new Map(model.graph.given);
  for (const [name, value] of values) {
    const type = findStaticType(model.graph.types.get(name));
    given.set(name, fitting(model, name, (type && findProblem(value, type)) ?? value));
  }
  return given.size === 0 ? model : { ...model, graph: { ...model.graph, given } };
}

function fitting({ source }: Model, name: string, values: InputValues | string): InputValues {
  if (typeof values !== 'string') return values;
  throw new PlatformError(
    'usage',
    `${source}: input ${quoted(name)} cannot have these values: ${values}. Give other values.`,
  );
}

/** Any other name is a typing error. @throws PlatformError `usage` */
export function checkInputNames(models: readonly Model[], texts: ReadonlyMap<string, GivenText> | undefined): void {
  const names = new Set(models.flatMap(({ graph }) => graph.inputs));
  for (const name of texts?.keys() ?? []) {
    if (names.has(name)) continue;
    const there = `they have ${listed([...names].map(quoted))}`;
    throw new PlatformError('usage', `--input ${name}: none of the models has an input of this name; ${there}`);
  }
}
