import type { ListedAgent } from '../directory/list-agents.js';
import { ownValue } from '../base/own-value.js';
import type { AgentOffer } from '../directory/agent-offer.js';
import type { RegisteredModel, RegisteredType } from './json-documents.js';

type OfferedModel = AgentOffer['models'][number];

function describeType({ type, description, parameters }: OfferedModel['inputs'][number]): RegisteredType {
  return { type, description, parameters: Object.entries(parameters).map(([name, { value }]) => ({ name, value })) };
}

export function registeredModels(agents: readonly ListedAgent[]): readonly RegisteredModel[] {
  const models = new Map<string, RegisteredModel>();
  for (const { address, models: offered } of agents) {
    for (const { name, version, framework, inputs, output, model, attributes, hidden } of offered) {
      if (hidden) continue;
      const registered: RegisteredModel = {
        name,
        version,
        framework: framework === undefined ? '' : `${framework.name} ${framework.version}`,
        task: ownValue(attributes, 'task') ?? null,
        inputs: inputs.map(describeType),
        output: output === undefined ? null : describeType(output),
        graphChecksum: model?.graphChecksum ?? '',
        agents: [],
      };
      // Agents may have different models under one name.
      const key = JSON.stringify(registered);
      const known = models.get(key) ?? registered;
      known.agents.push(address);
      models.set(key, known);
    }
  }
  return [...models.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

const SHOWN_PARAMETERS = ['element_type', 'layout', 'dimensions'];

/** An input or output in a few words: `image float32 CHW [3,224,224]`. */
export function typeText({ type, parameters }: RegisteredType): string {
  const shown = SHOWN_PARAMETERS.flatMap(
    (name) => parameters.find((parameter) => parameter.name === name)?.value ?? [],
  );
  return [type, ...shown].join(' ');
}

/** URL or path of the file of an output's class names; undefined where the manifest names none. */
export function findLabels({ parameters }: RegisteredType): string | undefined {
  return parameters.find(({ name }) => name === 'features_url' || name === 'features_path')?.value;
}
