import type { InitializeHook, ResolveHook } from 'node:module';

// Hooks of Node's module loader, which runs them in a thread of their own.

/** The import of plugins that are not built with the platform. */
const PLUGIN_API = 'dlbricks/plugin-api';

let api = '';

export const initialize: InitializeHook<{ readonly api: string }> = (data) => {
  ({ api } = data);
};

export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  specifier === PLUGIN_API ? { url: api, shortCircuit: true } : nextResolve(specifier, context);
