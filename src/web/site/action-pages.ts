import { counted } from '../../base/counted.js';
import { gigabytes } from '../../base/gigabytes.js';
import { Markup, markup } from '../../base/markup.js';
import type { RegisteredAgent } from '../../directory/agent-directory.js';
import { hasMadeUpWeights } from '../../registry/made-up-weights.js';
import { link, columnsMarkup, type MarkupColumn } from '../table.js';
import { address, facts, messageMarkup, section, type SiteContent, timeText } from './layout.js';
import { schemaFields } from './schema-form.js';

export interface Working {
  readonly id: string;
  readonly name: string;
  readonly agents: readonly string[];
}

const MAX_MODELS = 30;

export function agentsPage(agents: readonly RegisteredAgent[], working: readonly Working[]): SiteContent {
  const columns: MarkupColumn<RegisteredAgent>[] = [
    { title: 'agent', cell: ({ address }) => address },
    { title: 'host', cell: ({ hostname }) => hostname },
    { title: 'runtime', cell: ({ framework, frameworkVersion }) => `${framework} ${frameworkVersion}` },
    {
      title: 'machine',
      cell: ({ processor, cores, memoryBytes, operatingSystem }) =>
        `${processor}, ${counted(cores, 'core')}, ${gigabytes(memoryBytes)}, ${operatingSystem}`,
    },
    {
      title: 'does now',
      cell: ({ address: of }) => {
        const runs = working.filter((each) => each.agents.includes(of));
        if (runs.length === 0) return 'nothing for this server';
        return markup`${runs.map(({ id, name }) => markup`${link(`/evaluations/${id}`, name)} `)}`;
      },
    },
    { title: 'models', align: 'right', cell: ({ models }) => String(models.length) },
    { title: 'registered', cell: ({ registeredAt }) => timeText(registeredAt) },
  ];
  const offers = agents.map((agent) => {
    const names = agent.models.map(({ name, version }) => `${name} ${version}`);
    const rest = names.length - MAX_MODELS;
    const text = rest > 0 ? `${names.slice(0, MAX_MODELS).join(', ')} and ${rest} more` : names.join(', ');
    return [agent.address, text === '' ? 'none' : text] as const;
  });
  return {
    title: 'Agents',
    body: markup`<h1>Agents</h1>
${agents.length === 0 ? markup`<p>No agent is registered. <code>mlmodelscope agent --server ADDRESS</code> on a machine registers one.</p>` : columnsMarkup('Agents', columns, agents)}
${agents.length === 0 ? undefined : section('Models for predictions', [facts(offers)])}`,
  };
}

export interface OfferedPlugin {
  readonly name: string;
  readonly version: string;
  readonly schema: unknown;
}

function noPluginMarkup(chosen: string, hasOthers: boolean): Markup {
  if (hasOthers) {
    return markup`<p class="problem">The plugin ${chosen} is not attached to this server. Choose another one.</p>`;
  }
  return markup`<p>No plugin is attached to this server. <code>mlmodelscope plugin NAME --server ADDRESS</code> attaches one.</p>`;
}

/** @param zoo names of models that need no file */
export function submitPage(plugins: readonly OfferedPlugin[], chosen: string, zoo: readonly string[]): SiteContent {
  const plugin = chosen === '' ? plugins[0] : plugins.find(({ name }) => name === chosen);
  const choices = plugins.map(({ name, version }) => {
    const here = name === plugin?.name ? Markup.trusted(' aria-current="true"') : '';
    return markup`<a href="${address('/submit', [['plugin', name]])}"${here}>${name} ${version}</a> `;
  });
  const content =
    plugin === undefined
      ? noPluginMarkup(chosen, plugins.length > 0)
      : markup`<form class="fields" data-api="/api/v1/evaluations" data-body="evaluation" data-then="/evaluations/">
<div class="field"><label for="files">Files of models (.onnx, .yml)</label>
<input id="files" type="file" multiple data-files accept=".onnx,.yml,.yaml,.lock"><p class="quiet">Named in models by their file names. 6 MiB together; the command <code>mlmodelscope evaluate</code> sends larger ones.</p></div>
${schemaFields(plugin.schema)}
<p><button class="primary">Submit</button></p><p class="problem" role="alert"></p></form>
<details><summary>Models of the zoo</summary><p>${zoo.map((name) => markup`<code>zoo:${name}</code> `)}</p></details>`;
  return {
    title: 'Submit an evaluation',
    body: markup`<h1>Submit an evaluation</h1><p>Plugin: ${choices}</p>
<noscript><p class="problem">This form needs scripts. Without them, use the command <code>mlmodelscope evaluate</code>.</p></noscript>
${content}`,
  };
}

export function predictPage(agents: readonly RegisteredAgent[]): SiteContent {
  const names = [...new Set(agents.flatMap((agent) => agent.models.map(({ name }) => name)))].sort();
  const models = names.map((name) => {
    const isMadeUp = agents.every(({ models: offered }) => hasMadeUpWeights(offered, name) ?? true);
    return markup`<option value="${name}">${name}${isMadeUp ? ', with made-up weights' : ''}</option>`;
  });
  const offers = agents.map(({ address, framework, frameworkVersion, hostname }) => {
    return markup`<option value="${address}">${framework} ${frameworkVersion} on ${hostname} (${address})</option>`;
  });
  const select = (id: string, label: string, first: Markup | undefined): Markup =>
    markup`<div class="field"><label for="${id}">${label}</label><select id="${id}" data-agent>${first}${offers}</select></div>`;
  const form = markup`<form class="fields" data-predict="/api/v1/predictions">
<div class="field"><label for="model">Model</label><select id="model" required data-model>${models}</select></div>
<div class="field"><label for="picture">Picture (JPEG, PNG, …, at most 6 MiB)</label><input id="picture" type="file" accept="image/*" required></div>
${select('first', 'Runs on', undefined)}
${select('second', 'and, beside it, on', markup`<option value="">no other</option>`)}
<p><button class="primary">Predict</button></p><p class="problem" role="alert"></p></form>
<div class="side-by-side" data-answers aria-live="polite"></div>`;
  return {
    title: 'Predict',
    body: markup`<h1>Predict for a picture</h1>
${models.length === 0 ? markup`<p>No registered agent offers a model. <code>mlmodelscope agent --server ADDRESS --models FOLDER</code> offers those of a folder.</p>` : form}`,
  };
}

export function loginPage(problem: string | undefined, target: string): SiteContent {
  return {
    title: 'Log in',
    body: markup`<h1>Log in</h1>
<p>This server has tokens. The token is kept by the server for twelve hours; the browser gets the name of a session.</p>
<form class="fields" method="post" action="${address('/login', [['to', target]])}">
<div class="field"><label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" required></div>
<p><button class="primary">Log in</button></p>
${problem === undefined ? undefined : markup`<p class="problem" role="alert">${problem}</p>`}</form>`,
  };
}

export function problemPage(title: string, message: string): SiteContent {
  return { title, body: markup`<h1>${title}</h1><p class="problem" role="alert">${messageMarkup(message)}</p>` };
}
