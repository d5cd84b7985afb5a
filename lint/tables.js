import ts from 'typescript';

/** Whether values of this type can be any text, or a template around any text. @returns {boolean} */
function isOpen(type) {
  const { flags, types = [] } = type;
  const isMade = (flags & (ts.TypeFlags.Union | ts.TypeFlags.TemplateLiteral)) !== 0;
  return isMade ? types.some(isOpen) : (flags & ts.TypeFlags.String) !== 0;
}

/**
 * Forbids looking up a property of an ordinary object, or testing for it with `in`, by a name that is only known at run
 * time: `table['constructor']` finds a property that every object inherits. Use a Map for a table, and `ownValue` for
 * an object from outside.
 */
export const tables = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      inherited: 'The name may be one that objects inherit, such as "constructor": make this a Map, or use ownValue.',
    },
  },
  create(context) {
    const { parserServices } = context.sourceCode;
    const check = (node, name) => {
      if (isOpen(parserServices.getTypeAtLocation(name))) context.report({ node, messageId: 'inherited' });
    };
    return {
      'MemberExpression[computed=true]': (node) => check(node, node.property),
      'BinaryExpression[operator="in"][left.type!="PrivateIdentifier"]': (node) => check(node, node.left),
    };
  },
};
