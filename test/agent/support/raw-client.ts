import assert from 'node:assert/strict';
import { Client, credentials, type ServiceError, type status } from '@grpc/grpc-js';

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** A client made without this project's code. */
export function rawClient(address: string) {
  const client = new Client(address, credentials.createInsecure());
  return {
    unary<Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> {
      return new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = method;
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) => {
          if (error !== null) reject(error);
          else if (response !== undefined) resolve(response);
        });
      });
    },

    /** All answers of a streaming call. */
    stream<Request, Response>(
      method: Method<Request, Response>,
      request: Request,
      onAnswer?: (answer: Response) => void,
    ): Promise<readonly Response[]> {
      return new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = method;
        const answers: Response[] = [];
        const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
        call.on('data', (answer: Response) => {
          answers.push(answer);
          onAnswer?.(answer);
        });
        call.on('error', reject);
        call.on('end', () => resolve(answers));
      });
    },

    close: () => client.close(),
  };
}

export type RawClient = ReturnType<typeof rawClient>;

/** For assert.rejects: checks the status and the details of an answer. */
export function hasStatus(code: status, details = /./): (error: unknown) => boolean {
  return (error) => {
    const answer = error as ServiceError;
    return answer.code === code && details.test(answer.details);
  };
}

/** Asserts that a call fails with this status and these details. */
export function assertStatus(call: Promise<unknown> | (() => Promise<unknown>), code: status, details?: RegExp) {
  return assert.rejects(call, hasStatus(code, details));
}
