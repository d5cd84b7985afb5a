import semver from 'semver';
import { PlatformError } from '../../base/errors.js';
import type { PredictorOpenRequest } from '../../generated/mlmodelscope/org/dlframework/predictor.js';
import { FRAMEWORK_REMEDY } from '../../manifest/requirements.js';
import type { Framework } from '../../predictor/predictor.js';
import { isSameFramework } from '../../base/framework-name.js';
import { isAny } from '../../base/platform-name.js';
import { parseVersionRange } from '../../base/version-range.js';

const MAX_INPUTS = 1000;

/** @throws PlatformError `usage` for no inputs, or too many; `field` is the name of their field in the request */
export function requireInputs(inputs: readonly unknown[], field: string): void {
  if (inputs.length === 0) throw new PlatformError('usage', `${field} is empty`);
  if (inputs.length <= MAX_INPUTS) return;
  throw new PlatformError('usage', `the request has ${inputs.length} inputs; send at most ${MAX_INPUTS} at a time`);
}

const MAX_TEXT_LENGTH = 1024;

export function checkOpenRequest(request: PredictorOpenRequest, framework: Framework): void {
  const { modelName, modelVersion, frameworkName, frameworkVersion } = request;
  if (modelName === '') throw new PlatformError('usage', 'model_name is empty');
  for (const text of [modelName, modelVersion, frameworkName, frameworkVersion]) {
    if (text.length > MAX_TEXT_LENGTH)
      throw new PlatformError('usage', `a name has more than ${MAX_TEXT_LENGTH} letters`);
  }
  const offered = `this agent has ${framework.name} ${framework.version}`;
  if (!isAny(frameworkName) && !isSameFramework(frameworkName, framework.name)) {
    throw new PlatformError('unsupported', `the request asks for the framework ${frameworkName}; ${offered}`);
  }
  parseVersionRange('model_version', modelVersion);
  const range = parseVersionRange('framework_version', frameworkVersion);
  if (!semver.satisfies(framework.version, range, { includePrerelease: true })) {
    throw new PlatformError(
      'unsupported',
      `the request asks for ${framework.name} ${frameworkVersion}; ${offered}; ${FRAMEWORK_REMEDY}`,
    );
  }
}

export function chooseInputId({ id }: { readonly id: string }, index: number): string {
  return id === '' ? String(index) : id.slice(0, MAX_TEXT_LENGTH);
}
