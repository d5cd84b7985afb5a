import ts from 'typescript';

/** Whether a text of this type may be any, or any with something around it. @returns {boolean} */
function isOpen(type) {
  const { flags, types = [] } = type;
  const isMade = (flags & (ts.TypeFlags.Union | ts.TypeFlags.TemplateLiteral)) !== 0;
  return isMade ? types.some(isOpen) : (flags & ts.TypeFlags.String) !== 0;
}

/**
 * No ordinary object is looked up by a text that is only known at run time, nor asked whether it has one:
 * `table['constructor']` finds what every object inherits. A table is a Map; an object that comes as it is, is asked with
 * `ownValue`.
 */
export const tables = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      inherited: 'A text may name what objects inherit, such as "constructor": make this a Map, or use ownValue.',
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
