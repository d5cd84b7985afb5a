import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { PLATFORM_VERSION } from '../../../src/base/platform-version.js';
import { openApiDocument, type Operation, parsedBody } from '../../../src/server/http/operation.js';
import { refusal } from '../../rpc/support/refusal.js';

const run = (): Promise<unknown> => Promise.resolve({});
const call = '/a.Service/Call';

const READING: Operation = {
  method: 'get',
  path: '/things/{id}',
  call,
  summary: 'One thing',
  params: { id: z.string().max(8) },
  query: { part: z.string().optional() },
  answer: z.strictObject({ name: z.string(), note: z.string().default('none') }),
  run,
};

const CHANGING: Operation = {
  method: 'post',
  path: '/things/{id}',
  call,
  summary: 'Changes it',
  body: z.strictObject({ name: z.string().default('new') }),
  answer: z.strictObject({}),
  run,
};

const SECURITY = [{}, { bearer: [] }, { session: [] }];

function json(schema: object): object {
  return { content: { 'application/json': { schema } } };
}

const PROBLEM = json({
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string', description: 'The problem, and a remedy' },
  },
  required: ['code', 'message'],
  additionalProperties: false,
});

const PROBLEMS = Object.fromEntries(
  (
    [
      ['400', 'The request is wrong'],
      ['401', 'A token is needed'],
      ['403', 'The token does not allow it, or the request came from another site'],
      ['404', 'There is none'],
      ['409', 'No agent meets the constraints'],
      ['429', 'A limit is reached'],
      ['503', 'A part of the platform is missing or away'],
    ] as const
  ).map(([status, description]) => [status, { description, ...PROBLEM }]),
);

describe('the description of the API', () => {
  const { paths, ...rest } = openApiDocument([READING, CHANGING]) as { readonly paths: Record<string, unknown> };

  it('names its version, and the two ways to show a token', () => {
    assert.deepEqual(rest, {
      openapi: '3.1.0',
      info: { title: 'MLModelScope', version: PLATFORM_VERSION },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          session: { type: 'apiKey', in: 'cookie', name: 'session' },
        },
      },
    });
  });

  it('has all methods of an address, with parameters, bodies, answers and problems', () => {
    assert.deepEqual(Object.keys(paths), ['/api/v1/things/{id}', '/api/v1/evaluations/{id}/events']);
    assert.deepEqual(paths['/api/v1/things/{id}'], {
      get: {
        summary: 'One thing',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 8 } },
          { name: 'part', in: 'query', required: false, schema: { type: 'string' } },
        ],
        responses: {
          200: {
            description: 'The answer',
            ...json({
              type: 'object',
              properties: { name: { type: 'string' }, note: { type: 'string', default: 'none' } },
              required: ['name', 'note'],
              additionalProperties: false,
            }),
          },
          ...PROBLEMS,
        },
        security: SECURITY,
      },
      post: {
        summary: 'Changes it',
        parameters: [],
        requestBody: {
          required: true,
          ...json({
            type: 'object',
            properties: { name: { type: 'string', default: 'new' } },
            additionalProperties: false,
          }),
        },
        responses: {
          200: {
            description: 'The answer',
            ...json({ type: 'object', properties: {}, additionalProperties: false }),
          },
          ...PROBLEMS,
        },
        security: SECURITY,
      },
    });
  });

  it('has the stream of events, which is no operation', () => {
    assert.deepEqual(paths['/api/v1/evaluations/{id}/events'], {
      get: {
        summary: 'The events of an evaluation as they happen; Last-Event-ID or after gives the number of the last one',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'after', in: 'query', required: false, schema: { type: 'integer', minimum: 0 } },
          { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'integer', minimum: 0 } },
        ],
        responses: {
          200: {
            description: 'Server-sent events called "evaluation", each with JSON',
            content: { 'text/event-stream': { schema: { type: 'string' } } },
          },
          204: { description: 'It has ended, and there are no more events' },
        },
        security: SECURITY,
      },
    });
  });

  it('describes what JSON Schema cannot say as anything', () => {
    const odd: Operation = { ...READING, answer: z.strictObject({ at: z.date() }) };
    const described = openApiDocument([odd]) as { readonly paths: Record<string, unknown> };
    assert.match(JSON.stringify(described.paths['/api/v1/things/{id}']), /"properties":\{"at":\{\}\}/);
  });
});

describe('the body of a request', () => {
  const schema = z.strictObject({ name: z.string(), count: z.int().default(1) });

  it('is given as its schema reads it', () => {
    assert.deepEqual(parsedBody('{"name": "a"}', schema), { name: 'a', count: 1 });
  });

  it('is refused with the reason if it is no JSON', () => {
    assert.throws(() => parsedBody('{', schema), refusal('usage', /^the body is no JSON that is read here: .*JSON/));
  });

  it('is refused with the place of each problem, on one line each', () => {
    assert.throws(
      () => parsedBody('{"count": "x"}', schema),
      refusal('usage', /^name: expected a text, found nothing\ncount: expected a number, found a text$/),
    );
    assert.throws(() => parsedBody('[]', schema), refusal('usage', /^body: expected an object, found a list$/));
  });

  it('is refused with five lines at most, the last of which counts the other problems', () => {
    const many = z.array(z.string());
    const five = ['0', '1', '2', '3', '4'].map((at) => `${at}: expected a text, found a number`);
    assert.throws(() => parsedBody('[1,2,3,4,5]', many), refusal('usage', new RegExp(`^${five.join('\n')}$`)));
    const four = [...five.slice(0, 4), 'and 2 more'].join('\n');
    assert.throws(() => parsedBody('[1,2,3,4,5,6]', many), refusal('usage', new RegExp(`^${four}$`)));
  });
});
