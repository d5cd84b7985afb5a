import { Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { type ErrorCode, isErrorCode, messageOf, PlatformError } from '../base/errors.js';

const STATUS_OF: Readonly<Record<ErrorCode, status>> = {
  usage: status.INVALID_ARGUMENT,
  manifest: status.INVALID_ARGUMENT,
  model: status.INVALID_ARGUMENT,
  unsupported: status.FAILED_PRECONDITION,
  not_found: status.NOT_FOUND,
  unavailable: status.UNAVAILABLE,
  exhausted: status.RESOURCE_EXHAUSTED,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  timeout: status.DEADLINE_EXCEEDED,
  cancelled: status.CANCELLED,
  storage: status.INTERNAL,
  internal: status.INTERNAL,
};

const CODE_OF: Partial<Record<status, ErrorCode>> = {
  [status.INVALID_ARGUMENT]: 'usage',
  [status.OUT_OF_RANGE]: 'usage',
  [status.FAILED_PRECONDITION]: 'unsupported',
  [status.UNIMPLEMENTED]: 'unsupported',
  [status.NOT_FOUND]: 'not_found',
  [status.UNAVAILABLE]: 'unavailable',
  [status.RESOURCE_EXHAUSTED]: 'exhausted',
  [status.UNAUTHENTICATED]: 'unauthenticated',
  [status.PERMISSION_DENIED]: 'forbidden',
  [status.DEADLINE_EXCEEDED]: 'timeout',
  [status.CANCELLED]: 'cancelled',
};

const ERROR_CODE_TRAILER = 'mlmodelscope-error-code';

/** Percent-encoded, as it travels; clients refuse headers that are much larger. */
const MAX_DETAILS_BYTES = 6000;

/** Lone surrogates cannot be encoded. */
function shortenDetails(text: string): string {
  const whole = text.replace(/\p{Surrogate}/gu, '\uFFFD');
  if (encodeURI(whole).length <= MAX_DETAILS_BYTES) return whole;
  let kept = '';
  let bytes = 0;
  for (const character of whole) {
    bytes += encodeURI(character).length;
    if (bytes > MAX_DETAILS_BYTES) break;
    kept += character;
  }
  return `${kept}…`;
}

export function toStatus(thrown: unknown): StatusObject {
  const code = thrown instanceof PlatformError ? thrown.code : 'internal';
  const metadata = new Metadata();
  metadata.set(ERROR_CODE_TRAILER, code);
  return { code: STATUS_OF[code], details: shortenDetails(messageOf(thrown)), metadata };
}

function causeIn(details: string): string {
  return /Last error: (?:Error: )?(?<cause>.+?)\s*\. Resolution note/s.exec(details)?.groups?.['cause'] ?? details;
}

export type PeerKind = 'agent' | 'server' | 'inference server';

export interface Peer {
  readonly kind: PeerKind;
  readonly address: string;
  /** Then the address and TLS are right. */
  readonly hasAnswered: boolean;
}

const COMMANDS: Readonly<Record<PeerKind, string>> = {
  agent: 'start an agent there with `mlmodelscope agent`',
  server: 'start a server there with `mlmodelscope serve`',
  'inference server': 'start the server there, and name its gRPC port',
};

/** One side uses TLS and the other does not, or one side does not trust the other's certificate. */
const TLS_TROUBLE = /certificate|SSL|TLS|ECONNRESET|hang up|socket|altnames|^Failed to connect/i;

/** A program that speaks no gRPC, or only over TLS, has answered. */
const NO_GRPC = /^Protocol error/;

function adviceFor({ kind, hasAnswered }: Peer, cause: string): string {
  if (hasAnswered) return 'it did before: see whether it still runs and can be reached from here';
  if (NO_GRPC.test(cause)) {
    return 'no plain gRPC is spoken there: name the address of --listen, not of --http, or use TLS (--tls-ca)';
  }
  if (!TLS_TROUBLE.test(cause)) return `check the address, or ${COMMANDS[kind]}`;
  return 'check the address, and that both sides use TLS with certificates that the other trusts (--tls-ca, --tls-cert, --tls-key)';
}

const OTHER_KIND: Readonly<Record<PeerKind, string>> = {
  agent: "name an agent instead; `mlmodelscope registry agents --server ADDRESS` lists a server's",
  server: 'name a server instead (`mlmodelscope serve`); an agent takes `mlmodelscope dlbricks run --agent ADDRESS`',
  'inference server': 'name the gRPC port of a server of the Open Inference Protocol',
};

export function fromStatus(answer: StatusObject, peer: Peer): PlatformError {
  const { kind, address } = peer;
  const [named] = answer.metadata.get(ERROR_CODE_TRAILER);
  if (isErrorCode(named)) return new PlatformError(named, answer.details);
  const code = CODE_OF[answer.code] ?? 'internal';
  const cause = causeIn(answer.details);
  switch (answer.code) {
    case status.UNAVAILABLE:
      return new PlatformError(code, `the ${kind} at ${address} does not answer (${cause}); ${adviceFor(peer, cause)}`);
    case status.UNIMPLEMENTED:
      return new PlatformError(
        code,
        `the program at ${address} is no ${kind}, or has another version; ${OTHER_KIND[kind].replace('ADDRESS', address)}`,
      );
    case status.DEADLINE_EXCEEDED:
      return new PlatformError(code, `the ${kind} at ${address} does not answer in time; ${adviceFor(peer, '')}`);
    default:
      return new PlatformError(code, `the ${kind} at ${address}: ${answer.details}`);
  }
}
