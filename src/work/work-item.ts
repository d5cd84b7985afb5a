import { contextSchema } from '../measurement/measurement.js';
import { areCommonOptions } from '../measurement/system.js';
import { messageOf, PlatformError } from '../base/errors.js';
import * as wire from '../generated/mlmodelscope/work/v1/work.js';
import type { MeasureRequest } from '../agent/benchmark-agent.js';
import {
  fromWireBenchmark,
  fromWireProtocol,
  fromWireRunOptions,
  toWireBenchmark,
  toWireProtocol,
  toWireRunOptions,
} from '../agent/wire/benchmark-wire.js';
import { check } from '../rpc/check-message.js';
import type { ContextHeaders } from '../tracing/tracing.js';

/** Agents of version 1 would ignore some options. */
const VERSION = 1;
const VERSION_WITH_SETTINGS = 2;

const MAX_REQUESTS = 10_000;

export interface WorkRequest {
  readonly request: MeasureRequest;
  /** `measuredAt` of the stored measurement that is replaced; undefined if there was none. */
  readonly replaces: string | undefined;
}

export interface WorkItem {
  readonly requests: readonly WorkRequest[];
  /** Name of the lease of the waiting caller. If undefined, all are measured. */
  readonly wantedBy: string | undefined;
  readonly traceContext: ContextHeaders;
  /** The id of the caller's store; undefined from older callers. */
  readonly store?: string | undefined;
}

/** Leaves out the names of models. @throws PlatformError `usage` for weights, which never leave their machine */
export function encodeItem({ requests, wantedBy = '', traceContext, store = '' }: WorkItem): Uint8Array {
  const messages = requests.map(({ request, replaces = '' }) => {
    const { benchmark, context, modelBytes = 0, roughMs = 0 } = request;
    if (benchmark.weights !== undefined) {
      throw new PlatformError('usage', 'a queue carries no weights: measure a model with its own weights on one agent');
    }
    return {
      benchmark: toWireBenchmark(benchmark),
      runOptions: toWireRunOptions(request.runOptions),
      protocol: toWireProtocol(request),
      footprintBytes: BigInt(context?.footprintBytes ?? 0),
      modelBytes: BigInt(modelBytes),
      roughMs,
      replaces,
    };
  });
  const areCommon = requests.every(({ request }) => areCommonOptions(request.runOptions));
  const version = areCommon ? VERSION : VERSION_WITH_SETTINGS;
  const item = { version, requests: messages, wantedBy, traceContext, store };
  return wire.WorkItem.encode(item).finish();
}

/** @throws PlatformError `usage`, with the reason, for a body that is no item, or has another version */
export function itemIn(body: Uint8Array): WorkItem {
  const { version, requests, wantedBy, traceContext, store } = decoded(body);
  if (version !== VERSION && version !== VERSION_WITH_SETTINGS) {
    const problem = `the message is of version ${version}, and this agent understands version ${VERSION_WITH_SETTINGS}`;
    throw new PlatformError('usage', `${problem}: run the same version of this program everywhere`);
  }
  if (requests.length === 0 || requests.length > MAX_REQUESTS) {
    throw new PlatformError(
      'usage',
      `the message asks for ${requests.length} measurements, expected 1 to ${MAX_REQUESTS}`,
    );
  }
  return {
    requests: requests.map((request, index) => readRequest(request, `requests[${index}]`)),
    wantedBy: wantedBy === '' ? undefined : wantedBy,
    traceContext,
    store: store === '' ? undefined : store,
  };
}

function decoded(body: Uint8Array): wire.WorkItem {
  try {
    return wire.WorkItem.decode(body);
  } catch (cause) {
    throw new PlatformError('usage', `the message is no work: ${messageOf(cause)}`, { cause });
  }
}

function readRequest(message: wire.WorkRequest, place: string): WorkRequest {
  try {
    const { footprintBytes, modelBytes, roughMs, replaces, protocol } = message;
    if (protocol?.memoryLimitBytes === 0n) throw new PlatformError('usage', 'protocol: no limit on memory');
    const benchmark = fromWireBenchmark(message.benchmark);
    if (benchmark.weights !== undefined) throw new PlatformError('usage', 'benchmark: it names a file with weights');
    const request = {
      benchmark,
      runOptions: fromWireRunOptions(message.runOptions),
      ...fromWireProtocol(protocol, Infinity),
      ...(footprintBytes === 0n
        ? {}
        : { context: check(contextSchema, { footprintBytes: Number(footprintBytes) }, 'context') }),
      ...(modelBytes === 0n ? {} : { modelBytes: Number(modelBytes) }),
      ...(Number.isFinite(roughMs) && roughMs > 0 ? { roughMs } : {}),
    };
    return { request, replaces: replaces === '' ? undefined : replaces };
  } catch (thrown) {
    throw new PlatformError('usage', `the message is no work: ${place}: ${messageOf(thrown)}`, { cause: thrown });
  }
}
