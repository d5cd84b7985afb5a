import path from 'node:path';

/**
 * @typedef {object} FolderLevels
 * @property {string} folder Relative to the repository's root.
 * @property {readonly (readonly string[])[]} levels From the bottom up, the parts of the folder: subfolders or files. A
 *   part imports from itself and from lower levels. Parts of one level never import from each other, so that no cycle
 *   can arise.
 */

/**
 * @param {FolderLevels} folderLevels @param {string} file Relative to the repository's root.
 * @returns {{ name: string, level: number } | undefined} undefined outside of the folder
 */
function findPart({ folder, levels }, file) {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const first = file.slice(folder.length + 1).split('/')[0] ?? '';
  const name = first.endsWith('.ts') && !levels.flat().includes(first) ? '.' : first;
  return { name, level: levels.findIndex((parts) => parts.includes(name)) };
}

/** Imports go down only, inside of each folder that has levels; see docs/architecture.md. */
export const levels = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object' }],
    messages: {
      unknown: '{{folder}}/{{part}} is in no level; add it to the levels in eslint.config.js.',
      up: '{{from}} must not import from {{to}}: imports go down only, see docs/architecture.md.',
    },
  },
  create(context) {
    /** @type {FolderLevels} */
    const folderLevels = context.options[0];
    const { folder } = folderLevels;
    const root = context.cwd;
    const file = path.relative(root, context.filename);
    const from = findPart(folderLevels, file);
    if (from === undefined) return {};
    const check = (node, specifier) => {
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const target = path.join(path.dirname(file), specifier).replace(/\.js$/, '.ts');
      const to = findPart(folderLevels, target);
      if (to === undefined || to.name === from.name || to.name === 'generated') return;
      if (to.level < 0) context.report({ node, messageId: 'unknown', data: { folder, part: to.name } });
      else if (to.level >= from.level) {
        context.report({ node, messageId: 'up', data: { from: `${folder}/${from.name}`, to: `${folder}/${to.name}` } });
      }
    };
    return {
      Program(node) {
        if (from.level >= 0) return;
        context.report({ node, messageId: 'unknown', data: { folder, part: from.name } });
      },
      ImportDeclaration: (node) => check(node, node.source.value),
      ExportNamedDeclaration: (node) => check(node, node.source?.value),
      ExportAllDeclaration: (node) => check(node, node.source.value),
      ImportExpression: (node) => check(node, node.source.value),
    };
  },
};
