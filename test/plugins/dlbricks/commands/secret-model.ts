import {
  AttributeProto_AttributeType as AttributeType,
  type GraphProto,
  type NodeProto,
  type TensorProto,
} from '../../../../src/generated/onnx/onnx.js';
import type { Dimension } from '../../../../src/onnx/model/model.js';
import {
  attribute,
  floats,
  graph,
  graphAttribute,
  int,
  integers,
  model,
  node,
  tensor,
  tensorAttribute,
  value,
} from '../../../onnx/protos.js';
import { uniformNumbers } from '../support/noise.js';

/** An ONNX file, and everything about it that must not be found anywhere else. */
export interface SecretModel {
  readonly bytes: Uint8Array;
  /** Every value of every weight. */
  readonly weights: readonly number[];
  /** The beginning of every name in it, and of every text. */
  readonly mark: string;
}

/**
 * A model that has names, texts and weights in every place that a file has for them: in metadata, documentation, dimensions,
 * types, tensors of both encodings, computed weights, and in branches and bodies down to the second level.
 *
 * @param mark begins every name
 */
export function secretModel(mark: string, seed: number): SecretModel {
  const weights: number[] = [];
  const random = uniformNumbers(seed);
  const draw = (count: number): number[] => {
    const values = Array.from({ length: count }, () => Math.fround((random() * 2 - 1) * 0.7));
    weights.push(...values);
    return values;
  };
  const name = (what: string): string => `${mark}_${what}`;
  const note = (what: string): string => `${mark} says that this is the ${what}`;
  const typed = (what: string, dims: readonly Dimension[], elementType: 'float32' | 'int64' | 'bool' = 'float32') => {
    const info = value(name(what), dims, elementType);
    const type = info.type === undefined ? undefined : { ...info.type, denotation: note('type') };
    return { ...info, type, docString: note(what) };
  };
  const weight = (what: string, dims: number[]): TensorProto => ({
    ...floats(name(what), draw(dims.reduce((a, b) => a * b, 1)), dims),
    docString: note(what),
  });
  const layer = (opType: string, inputs: string[], outputs: string[], attributes: NodeProto['attribute'] = []) =>
    node(
      opType,
      inputs.map((input) => (input === '' ? '' : name(input))),
      outputs.map(name),
      attributes,
      {
        name: name(`layer_${outputs.join('_')}`),
        docString: note(opType),
      },
    );
  const constant = (what: string, dims: number[]): NodeProto =>
    layer('Constant', [], [what], [tensorAttribute('value', weight(`${what}_tensor`, dims))]);
  const scalars = (what: string, count: number): NodeProto =>
    layer('Constant', [], [what], [attribute('value_floats', { floats: draw(count), type: AttributeType.FLOATS })]);
  const inner = (what: string, rest: Partial<GraphProto>): GraphProto =>
    graph({ name: name(what), docString: note(what), ...rest });
  const symbol = name('inner_symbol');

  const loopBody = inner('body', {
    input: [typed('turn', [], 'int64'), typed('again', [], 'bool'), typed('state', [symbol, 8])],
    initializer: [weight('body_weight', [8, 8])],
    node: [
      layer('MatMul', ['state', 'body_weight'], ['turned']),
      scalars('body_scalars', 8),
      layer('Add', ['turned', 'body_scalars'], ['next']),
      layer('Identity', ['again'], ['more']),
    ],
    output: [typed('more', [], 'bool'), typed('next', [symbol, 8])],
    valueInfo: [typed('turned', [symbol, 8])],
  });
  const whenTrue = inner('when_true', {
    initializer: [weight('branch_weight', [8]), integers(name('count'), [2n], [])],
    node: [
      layer('Mul', ['hidden', 'branch_weight'], ['weighted']),
      layer('Loop', ['count', '', 'weighted'], ['looped'], [graphAttribute('body', loopBody)]),
    ],
    output: [typed('looped', [symbol, 8])],
  });
  const whenFalse = inner('when_false', {
    node: [constant('branch_constant', [8]), layer('Add', ['hidden', 'branch_constant'], ['shifted'])],
    output: [typed('shifted', [symbol, 8])],
  });
  const branches = [graphAttribute('then_branch', whenTrue), graphAttribute('else_branch', whenFalse)];

  const unpacked = tensor(name('unpacked_weight'), 'float32', [8], { floatData: draw(8), docString: note('bias') });
  const bytes = model(
    {
      name: name('graph'),
      docString: note('graph'),
      input: [typed('input', [name('batch'), 4]), typed('flag', [], 'bool')],
      output: [typed('output', [name('batch'), 8])],
      initializer: [weight('first_weight', [4, 8]), unpacked, weight('stored_weight', [8, 8])],
      node: [
        layer('MatMul', ['input', 'first_weight'], ['product']),
        layer('Add', ['product', 'unpacked_weight'], ['hidden']),
        layer('If', ['flag'], ['chosen'], branches),
        layer('Transpose', ['stored_weight'], ['computed_weight']),
        layer('MatMul', ['chosen', 'computed_weight'], ['mixed']),
        constant('learned', []),
        layer('Mul', ['mixed', 'learned'], ['scaled']),
        layer('Softmax', ['scaled'], ['output'], [{ ...int('axis', -1), docString: note('axis') }]),
      ],
      valueInfo: [typed('product', [name('batch'), 8]), typed('hidden', [name('batch'), 8])],
    },
    {
      producerName: name('producer'),
      producerVersion: name('version'),
      domain: name('domain'),
      modelVersion: 4711n,
      docString: note('model'),
      metadataProps: [{ key: name('key'), value: note('property') }],
    },
  );
  return { bytes, weights, mark };
}
