import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PlatformError } from '../../base/errors.js';
import * as wire from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';
import { fromWireSubmission } from '../wire/submission-wire.js';
import type { Submission } from '../submission.js';
import type { PlatformMessageInBytes, Run } from './link.js';

export function toWireRun(run: Run<Uint8Array>): PlatformMessageInBytes {
  const { evaluationId, attempt, agents, traceContext, submission } = run;
  const measuring = { agent: agents[0], agents: agents.length > 1 ? [...agents] : [] };
  return {
    $case: 'run',
    value: { evaluationId, attempt, submission, ...measuring, traceContext: { ...traceContext } },
  };
}

/** @throws PlatformError `usage` */
export function fromWireRun({ agent, agents: several, submission, ...run }: wire.Run): Run<Submission> {
  if (agent === undefined) throw new PlatformError('usage', 'the server names no agent');
  return { ...run, submission: fromWireSubmission(submission), agents: several.length > 0 ? several : [agent] };
}

/** The submission of a run is encoded as it was received. */
export interface AttachResponseInBytes {
  readonly message: PlatformMessageInBytes;
}

/** Field numbers of AttachResponse and Run. */
const RUN = 2;
const SUBMISSION = 3;

function before(field: number, length: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
}

function write({ message }: AttachResponseInBytes): Buffer {
  if (message.$case !== 'run') return wire.PluginServiceService.attach.responseSerialize({ message });
  const { submission, ...rest } = message.value;
  const run = [
    wire.Run.encode({ ...rest, submission: undefined }).finish(),
    before(SUBMISSION, submission.length),
    submission,
  ];
  const length = run.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([before(RUN, length), ...run]);
}

/** The event loop neither decodes nor encodes submissions, because that takes some tenths of a second. */
export const attachInBytes = { ...wire.PluginServiceService.attach, responseSerialize: write };
