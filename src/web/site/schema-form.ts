import { Markup, markup } from '../../base/markup.js';

// Fields that are not simple take JSON. The script reads `data-kind` and `data-path`, and sends what is filled in.

/** Schemas come from plugins, so that each part may be anything. */
interface Schema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly exclusiveMinimum?: unknown;
  readonly deprecated?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly required?: unknown;
}

/** Deeper schemas, and longer lists of fields, are fields for JSON. */
const MAX_DEPTH = 4;
const MAX_FIELDS = 100;

function schemaIn(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? value : {};
}

function propertiesOf({ properties }: Schema): readonly (readonly [string, Schema])[] {
  return Object.entries(schemaIn(properties)).map(([name, schema]) => [name, schemaIn(schema)]);
}

interface FieldKind {
  readonly kind: 'text' | 'number' | 'boolean' | 'lines' | 'json';
  readonly input: (id: string, attributes: Markup) => Markup;
}

function numberInput({ type, minimum, maximum, exclusiveMinimum }: Schema): FieldKind['input'] {
  const limit = (name: string, value: unknown): Markup | undefined =>
    typeof value === 'number' ? markup` ${Markup.trusted(name)}="${value}"` : undefined;
  const least = limit('min', minimum ?? exclusiveMinimum);
  return (id, attributes) =>
    markup`<input id="${id}" type="number" step="${type === 'integer' ? '1' : 'any'}"${least}${limit('max', maximum)}${attributes}>`;
}

function selectInput(values: readonly unknown[]): FieldKind['input'] {
  const options = values.map((value) => markup`<option>${String(value)}</option>`);
  return (id, attributes) => markup`<select id="${id}"${attributes}><option value=""></option>${options}</select>`;
}

function classifyField(schema: Schema): FieldKind {
  const { type, enum: values } = schema;
  if (type === 'string' && Array.isArray(values)) return { kind: 'text', input: selectInput(values) };
  switch (type) {
    case 'string':
      return { kind: 'text', input: (id, attributes) => markup`<input id="${id}" type="text"${attributes}>` };
    case 'integer':
    case 'number':
      return { kind: 'number', input: numberInput(schema) };
    case 'boolean':
      return { kind: 'boolean', input: selectInput(['true', 'false']) };
    default: {
      const input: FieldKind['input'] = (id, attributes) => markup`<textarea id="${id}"${attributes}></textarea>`;
      const isTextList = schema.type === 'array' && schemaIn(schema.items).type === 'string';
      return { kind: isTextList ? 'lines' : 'json', input };
    }
  }
}

function defaultText(value: unknown): string {
  if (value === undefined) return '';
  return ` Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`;
}

function fieldMarkup(path: readonly string[], schema: Schema, isRequired: boolean, depth: number): Markup | undefined {
  const { const: constant, deprecated, description, default: byDefault } = schema;
  if (deprecated === true) return undefined;
  const name = path.at(-1) ?? '';
  const pathText = JSON.stringify(path);
  if (constant !== undefined) {
    return markup`<input type="hidden" data-path="${pathText}" data-kind="json" value="${JSON.stringify(constant)}">`;
  }
  const inner = propertiesOf(schema);
  if (schema.type === 'object' && inner.length > 0 && depth < MAX_DEPTH) {
    const fields = fieldsMarkup(path, schema, depth + 1);
    const content = markup`<fieldset>${fields}</fieldset>`;
    return markup`<details><summary>${name}</summary>${content}</details>`;
  }
  const { kind, input } = classifyField(schema);
  const id = `field-${path.join('-').replace(/[^\w-]/g, '_')}`;
  const hint = [
    typeof description === 'string' ? description : '',
    kind === 'lines' ? 'One a line.' : kind === 'json' ? 'As JSON.' : '',
    defaultText(byDefault).trim(),
  ].filter((text) => text !== '');
  const required = isRequired && depth === 0 ? Markup.trusted(' required') : '';
  const described = hint.length === 0 ? '' : markup` aria-describedby="${id}-hint"`;
  const attributes = markup` data-path="${pathText}" data-kind="${kind}"${required}${described}`;
  return markup`<div class="field"><label for="${id}">${name}</label>${input(id, attributes)}${
    hint.length === 0 ? undefined : markup`<p class="quiet" id="${id}-hint">${hint.join(' ')}</p>`
  }</div>\n`;
}

function fieldsMarkup(path: readonly string[], schema: Schema, depth: number): readonly (Markup | undefined)[] {
  const required = Array.isArray(schema.required) ? (schema.required as readonly unknown[]) : [];
  return propertiesOf(schema)
    .slice(0, MAX_FIELDS)
    .map(([name, of]) => fieldMarkup([...path, name], of, required.includes(name), depth));
}

export function schemaFields(schema: unknown): readonly (Markup | undefined)[] {
  return fieldsMarkup([], schemaIn(schema), 0);
}
