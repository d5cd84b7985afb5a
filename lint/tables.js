import ts from 'typescript';

/** Types of texts that are not known before. */
const TEXT = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.StringMapping;

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
    const isText = (node) => {
      const type = parserServices.getTypeAtLocation(node);
      return (type.isUnion() ? type.types : [type]).some(({ flags }) => (flags & TEXT) !== 0);
    };
    const check = (node, name) => {
      if (isText(name)) context.report({ node, messageId: 'inherited' });
    };
    return {
      'MemberExpression[computed=true]': (node) => check(node, node.property),
      'BinaryExpression[operator="in"][left.type!="PrivateIdentifier"]': (node) => check(node, node.left),
    };
  },
};
