import ts from 'typescript';

/**
 * No ordinary object is looked up by a text that is only known at run time: `table['constructor']` finds what every object
 * inherits. A table is a Map; an object that comes as it is, is asked with `ownValue`.
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
    return {
      'MemberExpression[computed=true]'(node) {
        const isText = (parserServices.getTypeAtLocation(node.property).flags & ts.TypeFlags.String) !== 0;
        if (isText) context.report({ node, messageId: 'inherited' });
      },
    };
  },
};
