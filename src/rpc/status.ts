import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { type ErrorCode, messageOf, PlatformError } from '../errors.js';

/** The canonical status of each error code, for clients of any kind. */
const STATUS_OF: Readonly<Record<ErrorCode, status>> = {
  usage: status.INVALID_ARGUMENT,
  manifest: status.INVALID_ARGUMENT,
  model: status.INVALID_ARGUMENT,
  unsupported: status.FAILED_PRECONDITION,
  not_found: status.NOT_FOUND,
  unavailable: status.UNAVAILABLE,
  timeout: status.DEADLINE_EXCEEDED,
  cancelled: status.CANCELLED,
  storage: status.INTERNAL,
  internal: status.INTERNAL,
};

/** The error code of a status, where the agent does not name it itself. */
const CODE_OF: Partial<Record<status, ErrorCode>> = {
  [status.INVALID_ARGUMENT]: 'usage',
  [status.OUT_OF_RANGE]: 'usage',
  [status.FAILED_PRECONDITION]: 'unsupported',
  [status.UNIMPLEMENTED]: 'unsupported',
  [status.NOT_FOUND]: 'not_found',
  [status.UNAVAILABLE]: 'unavailable',
  [status.RESOURCE_EXHAUSTED]: 'unavailable',
  [status.DEADLINE_EXCEEDED]: 'timeout',
  [status.CANCELLED]: 'cancelled',
};

/** Trailer that carries the error code, which says more than the status. */
const ERROR_CODE_TRAILER = 'mlmodelscope-error-code';

/** How a handler answers what was thrown. */
export function statusOf(thrown: unknown): Partial<StatusObject> {
  const code = thrown instanceof PlatformError ? thrown.code : 'internal';
  const metadata = new Metadata();
  metadata.set(ERROR_CODE_TRAILER, code);
  return { code: STATUS_OF[code], details: messageOf(thrown), metadata };
}

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(STATUS_OF, value);
}

/** What of the library's account of a failed connection tells a user something. */
function causeIn(details: string): string {
  return /Last error: (?:Error: )?(?<cause>.+?)\. Resolution note/.exec(details)?.groups?.['cause'] ?? details;
}

/** The error that a client throws for an answer that is not OK. */
export function errorOf(answer: StatusObject, address: string): PlatformError {
  const [named] = answer.metadata.get(ERROR_CODE_TRAILER);
  if (isErrorCode(named)) return new PlatformError(named, answer.details);
  const code = CODE_OF[answer.code] ?? 'internal';
  const advice = 'check the address, or start an agent there with `mlmodelscope agent`';
  switch (answer.code) {
    case status.UNAVAILABLE:
      return new PlatformError(code, `the agent at ${address} does not answer (${causeIn(answer.details)}); ${advice}`);
    case status.DEADLINE_EXCEEDED:
      return new PlatformError(code, `the agent at ${address} does not answer in time; ${advice}`);
    default:
      return new PlatformError(code, `the agent at ${address}: ${answer.details}`);
  }
}
