/** The names that every object inherits: `constructor`, `__proto__`, `toString`, `hasOwnProperty` and others. */
export const INHERITED_NAMES: readonly string[] = Object.getOwnPropertyNames(Object.prototype);
