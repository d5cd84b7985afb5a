import type { Document } from 'mongodb';
import { z } from 'zod';
import { encodeName } from './document-codec.js';
import { SPLIT } from './large-document.js';

/** Keywords of JSON Schema's draft 4 that mean the same in a validator (MongoDB's manual, "$jsonSchema"). */
const SAME = [
  'enum',
  'required',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
] as const;

/** JSON's types in BSON. The driver writes whole numbers that fit as `int`, and all other numbers as `double`. */
const TYPES = new Map<string, string | readonly string[]>([
  ['object', 'object'],
  ['array', 'array'],
  ['string', 'string'],
  ['boolean', 'bool'],
  ['null', 'null'],
  ['number', ['int', 'long', 'double', 'decimal']],
  ['integer', ['int', 'long', 'double', 'decimal']],
]);

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A server's validator, coarser than the schema: other programs cannot write documents that this one cannot read.
 * @param untyped additional fields, and fields with another type than in JSON @returns undefined if none are defined
 */
export function buildValidator(schema: z.ZodType, untyped: readonly string[]): Document | undefined {
  const json: JsonSchema = z.toJSONSchema(schema, { target: 'draft-4', unrepresentable: 'any', io: 'output' });
  const whole = convert(json);
  const properties = whole['properties'] as JsonSchema | undefined;
  if (properties === undefined) return undefined;
  const loose = Object.fromEntries(['_id', ...untyped].map((field) => [encodeName(field), {}]));
  const fitting = { ...whole, properties: { ...properties, ...loose } };
  return { $jsonSchema: { anyOf: [{ required: [SPLIT] }, fitting] } };
}

function convert(schema: JsonSchema): JsonSchema {
  const converted: Record<string, unknown> = {};
  for (const keyword of SAME) if (schema[keyword] !== undefined) converted[keyword] = schema[keyword];
  const { type, properties, additionalProperties, items, required } = schema;
  if (typeof type === 'string') converted['bsonType'] = TYPES.get(type);
  if (Array.isArray(required)) converted['required'] = required.map((name: string) => encodeName(name));
  if (isSchema(properties)) {
    converted['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [encodeName(name), convert(property as JsonSchema)]),
    );
  }
  if (additionalProperties === false) converted['additionalProperties'] = false;
  else if (isSchema(additionalProperties)) converted['additionalProperties'] = convert(additionalProperties);
  // A list within a list is no list in BSON; see document-codec.ts.
  if (isSchema(items) && items['type'] !== 'array') converted['items'] = convert(items);
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const alternatives = schema[keyword];
    if (Array.isArray(alternatives)) converted[keyword] = alternatives.map((one: JsonSchema) => convert(one));
  }
  return converted;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
