import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import semver from 'semver';
import { PlatformError } from '../../base/errors.js';
import {
  ImagesRequest,
  type PredictorOpenRequest,
  PredictService,
  URLsRequest,
} from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import type { Framework } from '../../predictor/predictor.js';
import { isSameFramework } from '../../base/framework-name.js';

/** Pictures of one request. */
export const MAX_INPUTS = 1000;

/** What a request may say besides its pictures. */
const MAX_BYTES_BESIDE = 2 ** 20;

/** Where URLsRequest and ImagesRequest hold what to look at. */
const INPUTS_FIELD = 2;

/**
 * Counts before decoding: an empty picture takes two bytes on the wire and a hundred in memory.
 *
 * @throws PlatformError `usage`
 */
function checkInputs(bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  let inputs = 0;
  let beside = 0;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, type] = reader.tag();
    reader.skip(type, field);
    if (field === INPUTS_FIELD && type === WireType.LengthDelimited) inputs++;
    else beside += reader.pos - start;
  }
  if (inputs > MAX_INPUTS) {
    throw new PlatformError('usage', `the request has ${inputs} inputs; send at most ${MAX_INPUTS} at a time`);
  }
  if (beside > MAX_BYTES_BESIDE) {
    throw new PlatformError('usage', `the request has ${beside} bytes besides its inputs; at most ${MAX_BYTES_BESIDE}`);
  }
}

/** The contract with guarded decoding. */
export const GUARDED_PREDICT = {
  ...PredictService,
  urLs: {
    ...PredictService.urLs,
    requestDeserialize: (bytes: Buffer): URLsRequest => {
      checkInputs(bytes);
      return URLsRequest.decode(bytes);
    },
  },
  images: {
    ...PredictService.images,
    requestDeserialize: (bytes: Buffer): ImagesRequest => {
      checkInputs(bytes);
      return ImagesRequest.decode(bytes);
    },
  },
};

const MAX_TEXT_LENGTH = 1024;

/** @throws PlatformError `usage` for a request that makes no sense, `unsupported` for one that this agent cannot serve */
export function checkOpenRequest(request: PredictorOpenRequest, framework: Framework): void {
  const { modelName, modelVersion, frameworkName, frameworkVersion } = request;
  if (modelName === '') throw new PlatformError('usage', 'model_name is empty');
  for (const text of [modelName, modelVersion, frameworkName, frameworkVersion]) {
    if (text.length > MAX_TEXT_LENGTH)
      throw new PlatformError('usage', `a name has more than ${MAX_TEXT_LENGTH} letters`);
  }
  const offered = `this agent has ${framework.name} ${framework.version}`;
  if (frameworkName !== '' && !isSameFramework(frameworkName, framework.name)) {
    throw new PlatformError('unsupported', `the request asks for the framework ${frameworkName}; ${offered}`);
  }
  const range = frameworkVersion === '' ? '*' : semver.validRange(frameworkVersion);
  if (range === null) {
    throw new PlatformError(
      'usage',
      `framework_version: ${frameworkVersion} is not a version constraint such as ^1.20`,
    );
  }
  if (!semver.satisfies(framework.version, range, { includePrerelease: true })) {
    throw new PlatformError('unsupported', `the request asks for ${framework.name} ${frameworkVersion}; ${offered}`);
  }
}

/** What to call an input that has no id: its place. */
export function idOf({ id }: { readonly id: string }, place: number): string {
  return id === '' ? String(place) : id.slice(0, MAX_TEXT_LENGTH);
}
