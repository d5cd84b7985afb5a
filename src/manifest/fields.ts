import semver from 'semver';
import { z } from 'zod';
import { wholeNumber } from '../base/bounded-number.js';
import { ELEMENT_TYPE_NAMES } from '../onnx/model/element-type.js';

// An error message says what was expected; see validate.ts.

/** At most 1000 characters. */
export function text(expected: string, test: (value: string) => boolean) {
  return z.string({ error: expected }).refine((value) => value.length <= 1000 && test(value), { error: expected });
}

export function oneLineField(expected: string) {
  return text(expected, (value) => /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(value));
}

export const nameField = text('a name of at most 100 letters, digits and . _ + -', (value) =>
  /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/.test(value),
);

const versionField = text('a semantic version such as "1.0.0"', (value) => {
  return /^\d/.test(value) && semver.valid(value) !== null;
});

/** Of every kind of manifest. @param dlspec its kind and the version of its form */
export function headerFields<Header extends string>(dlspec: Header) {
  return {
    dlspec: z.literal(dlspec),
    name: nameField,
    version: versionField,
    description: z.string().optional(),
  };
}

export function isVersionRange(value: string): boolean {
  return value !== '' && value.length <= 100 && semver.validRange(value) !== null;
}

export const elementTypeField = z.enum(ELEMENT_TYPE_NAMES, { error: 'an element type such as float32 or int64' });

export const dimensionSizeField = wholeNumber(0, 2 ** 31 - 1);

export const dimensionNameField = oneLineField('the name of a dimension');

export const frameworkField = z.strictObject({
  name: text('a framework in lower case, such as onnxruntime', (value) => /^[a-z0-9][a-z0-9._-]{0,99}$/.test(value)),
  version: text('a range of versions such as "^1.20"', isVersionRange),
});

export type FrameworkConstraint = Readonly<z.output<typeof frameworkField>>;

export const ANY_FRAMEWORK = 'any';

export type ModelFramework = FrameworkConstraint | typeof ANY_FRAMEWORK;

export function modelFrameworkField<T extends z.ZodType<FrameworkConstraint>>(constraint: T) {
  return z.union([z.literal(ANY_FRAMEWORK), constraint], { error: 'a name and a version, or the word any' });
}

export function frameworkText(framework: ModelFramework): string {
  return framework === ANY_FRAMEWORK ? 'any framework' : `${framework.name} ${framework.version}`;
}
