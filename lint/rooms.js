import path from 'node:path';

/**
 * @typedef {object} House
 * @property {string} folder Relative to the repository's root.
 * @property {readonly (readonly string[])[]} levels Rooms from the bottom up: subfolders or files of the folder. A
 *   room imports
 *   from itself and from lower levels. Rooms of one level never import from each other, so that no cycle can arise.
 */

/**
 * @param {House} house @param {string} file Relative to the repository's root.
 * @returns {{ name: string, level: number } | undefined} undefined outside of the house
 */
function roomOf({ folder, levels }, file) {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const name = file.slice(folder.length + 1).split('/')[0] ?? '';
  const room = name.endsWith('.ts') && !levels.flat().includes(name) ? '.' : name;
  return { name: room, level: levels.findIndex((rooms) => rooms.includes(room)) };
}

/** Imports go down only, inside of each folder that has rooms; see docs/architecture.md. */
export const rooms = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object' }],
    messages: {
      unknown: '{{folder}}/{{room}} is in no level; add it to the levels in eslint.config.js.',
      up: '{{from}} must not import from {{to}}: imports go down only, see docs/architecture.md.',
    },
  },
  create(context) {
    /** @type {House} */
    const house = context.options[0];
    const root = context.cwd;
    const file = path.relative(root, context.filename);
    const from = roomOf(house, file);
    if (from === undefined) return {};
    const check = (node, specifier) => {
      if (typeof specifier !== 'string' || !specifier.startsWith('.')) return;
      const target = path.join(path.dirname(file), specifier).replace(/\.js$/, '.ts');
      const to = roomOf(house, target);
      if (to === undefined || to.name === from.name || to.name === 'generated') return;
      const { folder } = house;
      if (to.level < 0) context.report({ node, messageId: 'unknown', data: { folder, room: to.name } });
      else if (to.level >= from.level) {
        context.report({ node, messageId: 'up', data: { from: `${folder}/${from.name}`, to: `${folder}/${to.name}` } });
      }
    };
    return {
      Program(node) {
        if (from.level >= 0) return;
        context.report({ node, messageId: 'unknown', data: { folder: house.folder, room: from.name } });
      },
      ImportDeclaration: (node) => check(node, node.source.value),
      ExportNamedDeclaration: (node) => check(node, node.source?.value),
      ExportAllDeclaration: (node) => check(node, node.source.value),
      ImportExpression: (node) => check(node, node.source.value),
    };
  },
};
