/** Most numbers in the path of a layer, one for each level of nested modules; real models have four or five levels. */
const MAX_LEVELS = 32;

const INDEX = new RegExp(`^\\d{1,9}(-\\d{1,9}){0,${MAX_LEVELS - 1}}$`);

export function isLayerIndex(text: string): boolean {
  return INDEX.test(text);
}

/** Largest number of a layer among its siblings. */
export const MAX_INDEX = 999_999_999;

/** Most operations or bytes of one execution: more than any computer does in a day. */
export const MAX_WORK = 1e24;

/** Most different layers of one file; the largest known models have about ten thousand. */
export const MAX_LAYERS = 200_000;
