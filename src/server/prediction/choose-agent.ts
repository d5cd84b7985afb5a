import semver from 'semver';
import { PlatformError } from '../../base/errors.js';
import { isSameFramework } from '../../base/framework-name.js';
import { isAny, isSameName, isWithin } from '../../base/platform-name.js';
import { quoted } from '../../base/quoted.js';
import type { RegisteredAgent, Unmet } from '../../directory/agent-directory.js';
import { parseVersionRange } from '../../base/version-range.js';
import type { PredictorOpenRequest } from '../../generated/mlmodelscope/org/dlframework/predictor.js';

/** Agents that failed to open the model for their own reasons, by their addresses. */
export type FailedAgents = ReadonlyMap<string, PlatformError>;

export function modelInWords({ modelName, modelVersion }: PredictorOpenRequest): string {
  return `${quoted(modelName)}${modelVersion === '' ? '' : ` ${modelVersion}`}`;
}

/** @throws PlatformError `usage` for an invalid version constraint */
export function hasModel({ modelName, modelVersion }: PredictorOpenRequest): (agent: RegisteredAgent) => boolean {
  const range = parseVersionRange('model_version', modelVersion);
  return ({ models }) => models.some(({ name, version }) => isSameName(name, modelName) && isWithin(version, range));
}

export function unmetBy(request: PredictorOpenRequest, failed: FailedAgents): Unmet {
  const { modelName, frameworkName, frameworkVersion, options } = request;
  if (modelName === '') throw new PlatformError('usage', 'model_name is empty');
  const frameworks = parseVersionRange('framework_version', frameworkVersion);
  const isThere = hasModel(request);
  const asked = options?.agent ?? '';
  return (agent) => {
    const isFramework = isAny(frameworkName) || isSameFramework(frameworkName, agent.framework);
    const isVersion = semver.satisfies(agent.frameworkVersion, frameworks, { includePrerelease: true });
    const earlier = failed.get(agent.address);
    const problems = [
      ...(asked === '' || asked === agent.address ? [] : [`expected the agent ${quoted(asked)}`]),
      ...(isFramework && isVersion
        ? []
        : [
            `expected ${frameworkName || 'a framework'} ${frameworkVersion || 'of any version'}, found ${agent.framework} ${agent.frameworkVersion}`,
          ]),
      ...(isThere(agent) ? [] : [`it does not have the model ${modelInWords(request)}`]),
      ...(earlier === undefined ? [] : [earlier.message]),
    ];
    return problems.map((problem) => ({ problem }));
  };
}
