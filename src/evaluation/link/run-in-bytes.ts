import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  type AttachResponse,
  PluginServiceService,
  Run,
} from '../../generated/mlmodelscope/evaluation/v1/plugin_service.js';

/** The submission of a run is encoded as it was received. */
export type AttachResponseInBytes = AttachResponse & { readonly submission?: Uint8Array };

/** Field numbers of AttachResponse and Run. */
const RUN = 2;
const SUBMISSION = 3;

function before(field: number, length: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
}

function write({ message, submission }: AttachResponseInBytes): Buffer {
  if (message?.$case !== 'run' || submission === undefined) {
    return PluginServiceService.attach.responseSerialize({ message });
  }
  const run = [Run.encode(message.value).finish(), before(SUBMISSION, submission.length), submission];
  const length = run.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([before(RUN, length), ...run]);
}

/** The event loop neither decodes nor encodes submissions, because that takes some tenths of a second. */
export const attachInBytes = { ...PluginServiceService.attach, responseSerialize: write };
