import { fileURLToPath } from 'node:url';
import { codeOf, EXIT_CODES, describeForeignError, messageOf, PlatformError } from '../base/errors.js';

/** The folder of this package, with the plugins that are built with it. */
const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));

/** The file of a plugin that is not built with the platform, where the stack of an error leads through one. */
function pluginFileIn(thrown: unknown): string | undefined {
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  const files = [...stack.matchAll(/(file:\/\/[^\s)]+?):\d+/g)].map(([, url = '']) => fileURLToPath(url));
  return files.find(
    (file) => !file.startsWith(PACKAGE) && !/[\\/]node_modules[\\/](?!mlmodelscope-plugin-)/.test(file),
  );
}

/** This process, or the machine, may open no more files. */
export function isOutOfFiles(thrown: unknown): boolean {
  return ['EMFILE', 'ENFILE'].includes(codeOf(thrown));
}

/** The message for a thrown value: our own errors unchanged, all others with the request to report them. */
export function describeFailure(thrown: unknown): { readonly message: string; readonly exitCode: number } {
  if (thrown instanceof PlatformError) return { message: thrown.message, exitCode: EXIT_CODES[thrown.code] };
  if (isOutOfFiles(thrown)) {
    return { message: `${messageOf(thrown)}; allow more open files (ulimit -n)`, exitCode: EXIT_CODES.storage };
  }
  const pluginFile = pluginFileIn(thrown);
  if (pluginFile !== undefined) {
    const message = `the plugin at ${pluginFile} failed; report this to its author:\n${describeForeignError(thrown)}`;
    return { message, exitCode: EXIT_CODES.internal };
  }
  const stack = process.env['MLMODELSCOPE_DEBUG'] !== undefined && thrown instanceof Error ? `\n${thrown.stack}` : '';
  return {
    message: `unexpected error: ${messageOf(thrown)}; this is a defect of mlmodelscope, please report it (MLMODELSCOPE_DEBUG=1 shows where it happened)${stack}`,
    exitCode: EXIT_CODES.internal,
  };
}
