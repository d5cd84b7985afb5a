import { Binary, Decimal128, Double, Int32, Long, ObjectId, type Document } from 'mongodb';
import { ownValue } from '../../base/own-value.js';
import type { FieldType } from '../collection.js';

/*
 * JSON as BSON, without loss and in a form that every server accepts. No server accepts a NUL in field names. Servers
 * older than 5.0 accept neither a dot nor a leading $ in them. FerretDB accepts no list within a list. Such names are
 * written with %XX, as in URIs, and a list within a list as {"%": […]}.
 */

const LIST = '%';

/** The fields at the top level of a document that are texts in JSON and have another type in BSON. */
export type FieldTypes = Readonly<Partial<Record<string, FieldType>>>;

export function encodeDocument(json: object, types: FieldTypes = {}): Document {
  return Object.fromEntries(
    Object.entries(json).map(([name, value]: [string, unknown]) => [
      encodeName(name),
      encodeTyped(value, ownValue(types, name)),
    ]),
  );
}

export function decodeDocument(document: Document): object {
  return decodeValue(document) as object;
}

export function withoutFields(document: object, ...names: readonly string[]): object {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !names.includes(name)));
}

export function documentIdOf(document: object): unknown {
  return '_id' in document ? document._id : undefined;
}

/** Encodes a text, or a list of texts, with its field's type. A text that would not decode to itself stays a text. */
export function encodeTyped(value: unknown, type: FieldType | undefined): unknown {
  if (Array.isArray(value) && type !== undefined) return value.map((item) => encodeTyped(item, type));
  if (typeof value !== 'string' || type === undefined) return encodeValue(value, false);
  if (type === 'object_id') return /^[0-9a-f]{24}$/.test(value) ? new ObjectId(value) : value;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString() === value ? date : value;
}

export function encodeName(name: string): string {
  return name.replace(/[%.\0]|^\$/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function decodeName(name: string): string {
  return name.replace(/%([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function encodeValue(value: unknown, inList: boolean): unknown {
  if (Array.isArray(value)) {
    const list = value.map((item) => encodeValue(item, true));
    return inList ? { [LIST]: list } : list;
  }
  if (typeof value === 'object' && value !== null) return encodeDocument(value);
  return value;
}

function decodeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeValue);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Int32 || value instanceof Double) return value.valueOf();
  if (value instanceof Long) return value.toNumber();
  if (value instanceof Decimal128) return Number(value.toString());
  if (value instanceof Binary) return value.toString('base64');
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === LIST) return decodeValue(entries[0][1]);
  return Object.fromEntries(entries.map(([name, item]) => [decodeName(name), decodeValue(item)]));
}
