import { PlatformError } from '../../base/errors.js';
import { suggestion } from '../../base/suggestion.js';
import type { Analysis } from '../analysis.js';
import type { Plugin } from '../plugin.js';

export type Analysts = readonly Pick<Plugin, 'name' | 'analyses'>[];

/** @throws PlatformError `usage` that suggests a similar name or lists the names */
function named<T extends { readonly name: string }>(name: string, known: readonly T[], what: string): T {
  const found = known.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const names = known.map((candidate) => candidate.name);
  const meant = suggestion(name, names);
  const advice = meant === undefined ? `there is ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  throw new PlatformError('usage', `there is no ${what} ${name}; ${advice}`);
}

export function pluginWithAnalyses(name: string, plugins: Analysts): Analysts[number] {
  return named(
    name,
    plugins.filter(({ analyses = [] }) => analyses.length > 0),
    'plugin with analyses named',
  );
}

export function namedAnalysis(name: string, { name: plugin, analyses = [] }: Analysts[number]): Analysis {
  return named(name, analyses, `analysis of ${plugin} named`);
}
