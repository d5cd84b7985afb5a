import { z } from 'zod';
import { parseBoundedJson } from '../../base/bounded-json.js';
import { messageOf, PlatformError } from '../../base/errors.js';
import { PLATFORM_VERSION } from '../../base/platform-version.js';
import { schemaProblems } from '../../base/schema-problems.js';

export interface Asked<Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: Body;
  /** Whether the caller may see results. */
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
}

/** A call of the API, from which its route, its checks and its description are made. */
export interface Operation {
  readonly method: 'get' | 'post';
  /** Below {@link API}; parameters as in {id}. */
  readonly path: string;
  /** Path of the gRPC method with the same effect: who may call it is decided once for both. */
  readonly call: string;
  readonly summary: string;
  readonly params?: Readonly<Record<string, z.ZodType<string>>>;
  readonly query?: Readonly<Record<string, z.ZodType<string | undefined>>>;
  /** Checks the body before it is given. */
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** A buffer is a document that is JSON already. */
  run(asked: Asked): Promise<unknown>;
}

export const API = '/api/v1';

export const OPENAPI_PATH = `${API}/openapi.json`;

export const EVENTS_PATH = '/evaluations/{id}/events';

/** Reads the body of a request. @throws PlatformError `usage`, with the places of its problems */
export function parsedBody<Body extends z.ZodType>(text: string, schema: Body): z.output<Body> {
  let value: unknown;
  try {
    value = parseBoundedJson(text);
  } catch (error) {
    throw new PlatformError('usage', `the body is no JSON that is read here: ${messageOf(error)}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PlatformError('usage', schemaProblems(parsed.error, { whole: 'body', most: 5 }).join('\n'));
}

const errorSchema = z.strictObject({ code: z.string(), message: z.string().describe('The problem, and a remedy') });

const PROBLEMS = [
  ['400', 'The request is wrong'],
  ['401', 'A token is needed'],
  ['403', 'The token does not allow it, or the request came from another site'],
  ['404', 'There is none'],
  ['409', 'No agent meets the constraints'],
  ['429', 'A limit is reached'],
  ['503', 'A part of the platform is missing or away'],
] as const;

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const entries = Object.entries(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return Object.fromEntries(entries.filter(([key]) => key !== '$schema'));
}

function content(schema: z.ZodType, io: 'input' | 'output'): object {
  return { content: { 'application/json': { schema: jsonSchema(schema, io) } } };
}

function describeParameters({ params = {}, query = {} }: Operation): object[] {
  const all = [
    ...Object.entries(params).map(([name, schema]) => ({ name, in: 'path', required: true, schema })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', required: false, schema })),
  ];
  return all.map(({ schema, ...rest }) => ({ ...rest, schema: jsonSchema(schema, 'input') }));
}

function described(operation: Operation): object {
  const { summary, body, answer } = operation;
  const problems = PROBLEMS.map(([status, description]): [string, object] => [
    status,
    { description, ...content(errorSchema, 'output') },
  ]);
  return {
    summary,
    parameters: describeParameters(operation),
    ...(body !== undefined && { requestBody: { required: true, ...content(body, 'input') } }),
    responses: { '200': { description: 'The answer', ...content(answer, 'output') }, ...Object.fromEntries(problems) },
    security: [{}, { bearer: [] }, { session: [] }],
  };
}

export function openApiDocument(operations: readonly Operation[]): object {
  const paths = new Map<string, object>();
  for (const each of operations) {
    const path = `${API}${each.path}`;
    paths.set(path, { ...paths.get(path), [each.method]: described(each) });
  }
  const stream = { 'text/event-stream': { schema: { type: 'string' } } };
  paths.set(`${API}${EVENTS_PATH}`, {
    get: {
      summary: 'The events of an evaluation as they happen; Last-Event-ID or after gives the number of the last one',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'after', in: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
        { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'integer', minimum: 0 } },
      ],
      responses: {
        '200': { description: 'Server-sent events called "evaluation", each with JSON', content: stream },
        '204': { description: 'It has ended, and there are no more events' },
      },
      security: [{}, { bearer: [] }, { session: [] }],
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'MLModelScope', version: PLATFORM_VERSION },
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'session' },
      },
    },
  };
}
