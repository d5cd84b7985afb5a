import { BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  AttributeProto_AttributeType as AttributeType,
  GraphProto,
  type SparseTensorProto,
  TensorProto_DataLocation,
  type TensorProto,
} from '../../src/generated/onnx/onnx.js';
import {
  attribute,
  floats,
  fn,
  graph,
  graphAttribute,
  integers,
  model,
  node,
  pipeline,
  tensor,
  tensorAttribute,
  value,
} from './protos.js';

/** A tensor of four float32 values in an external file. */
function external(location: string, name = ''): TensorProto {
  const entries = { location, offset: '0', length: '16' };
  return tensor(name, 'float32', [1, 4], {
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: Object.entries(entries).map(([key, text]) => ({ key, value: text })),
  });
}

function sparse(values: TensorProto, indices = integers('', [0n, 1n, 2n, 3n])): SparseTensorProto {
  return { values, indices, dims: [1n, 4n] };
}

/** A Constant inside of an If, `depth` levels deep. */
function nested(constant: ReturnType<typeof node>, depth: number): ReturnType<typeof node> {
  if (depth === 0) return constant;
  const [output = ''] = constant.output;
  const branch = graph({ node: [nested(constant, depth - 1)], output: [value(output, [1, 4])] });
  return node('If', ['c'], [output], [graphAttribute('then_branch', branch), graphAttribute('else_branch', branch)]);
}

const add = (name: string) => node('Add', ['x', name], ['y']);
const condition = { input: [value('x', [1, 4]), value('c', [1], 'bool')] };

/**
 * For each place where a model may have a tensor: a model with a tensor there whose values are in the file `location`.
 */
export function modelsWithExternalTensor(location: string): ReadonlyMap<string, Uint8Array> {
  const constant = (attributes: Parameters<typeof node>[3]) => node('Constant', [], ['w'], attributes);
  const valued = constant([tensorAttribute('value', external(location))]);
  const local = { domain: '', version: 17n };
  const imports = [local, { domain: 'local', version: 1n }];
  const call = node('F', ['x'], ['y'], [], { domain: 'local' });
  const calling = { node: [call], input: [value('x', [1, 4])], output: [value('y', [1, 4])] };
  const relu = { node: [node('Relu', ['x'], ['y'])], input: [value('x', [1, 4])], output: [value('y', [1, 4])] };
  return new Map([
    ['an initializer', pipeline([add('w')], { initializer: [external(location, 'w')] })],
    [
      'an initializer that nothing reads',
      pipeline([add('w')], { initializer: [floats('w', [1, 2, 3, 4]), external(location, 'unused')] }),
    ],
    ['values of a sparse initializer', pipeline([add('w')], { sparseInitializer: [sparse(external(location, 'w'))] })],
    [
      'indices of a sparse initializer',
      pipeline([add('w')], { sparseInitializer: [sparse(floats('w', [1]), external(location))] }),
    ],
    ['a Constant', pipeline([valued, add('w')])],
    [
      'a sparse Constant',
      pipeline([
        constant([
          attribute('sparse_value', { type: AttributeType.SPARSE_TENSOR, sparseTensor: sparse(external(location)) }),
        ]),
        add('w'),
      ]),
    ],
    [
      'an attribute of another operator',
      pipeline([node('ConstantOfShape', ['shape'], ['w'], [tensorAttribute('value', external(location))]), add('w')], {
        initializer: [integers('shape', [1n, 4n])],
      }),
    ],
    [
      'a list of tensors',
      pipeline([
        node(
          'Relu',
          ['x'],
          ['y'],
          [attribute('list', { type: AttributeType.TENSORS, tensors: [floats('', [1]), external(location)] })],
        ),
      ]),
    ],
    [
      'a list of sparse tensors',
      pipeline([
        node(
          'Relu',
          ['x'],
          ['y'],
          [attribute('list', { type: AttributeType.SPARSE_TENSORS, sparseTensors: [sparse(external(location))] })],
        ),
      ]),
    ],
    ['a Constant in a branch', pipeline([nested(valued, 1), add('w')], condition)],
    ['a Constant in a branch of a branch of a branch', pipeline([nested(valued, 3), add('w')], condition)],
    [
      'an initializer in a branch',
      pipeline(
        [
          node(
            'If',
            ['c'],
            ['y'],
            ['then_branch', 'else_branch'].map((name) =>
              graphAttribute(
                name,
                graph({
                  node: [node('Add', ['x', 'w'], ['b'])],
                  initializer: [external(location, 'w')],
                  output: [value('b', [1, 4])],
                }),
              ),
            ),
          ),
        ],
        condition,
      ),
    ],
    [
      'a graph in a list of graphs',
      pipeline([
        node(
          'Relu',
          ['x'],
          ['y'],
          [
            attribute('list', {
              type: AttributeType.GRAPHS,
              graphs: [graph({ initializer: [external(location, 'w')] })],
            }),
          ],
        ),
      ]),
    ],
    [
      'a function',
      model(calling, {
        opsetImport: imports,
        functions: [fn('F', { input: ['x'], output: ['y'], node: [valued, add('w')] })],
      }),
    ],
    [
      'a function that is never called',
      model(relu, {
        opsetImport: imports,
        functions: [fn('F', { input: ['x'], output: ['y'], node: [valued, add('w')] })],
      }),
    ],
    [
      "a default of a function's parameter",
      model(calling, {
        opsetImport: imports,
        functions: [
          fn('F', {
            input: ['x'],
            output: ['y'],
            attributeProto: [tensorAttribute('p', external(location))],
            node: [constant([attribute('value', { refAttrName: 'p', type: AttributeType.TENSOR })]), add('w')],
          }),
        ],
      }),
    ],
    [
      'an argument of a function',
      model(
        { ...calling, node: [{ ...call, attribute: [tensorAttribute('p', external(location))] }] },
        {
          opsetImport: imports,
          functions: [
            fn('F', {
              input: ['x'],
              output: ['y'],
              attribute: ['p'],
              node: [constant([attribute('value', { refAttrName: 'p', type: AttributeType.TENSOR })]), add('w')],
            }),
          ],
        },
      ),
    ],
  ]);
}

/** TrainingInfoProto's graph `initialization`, which this project leaves out. Source: onnx.proto of the ONNX project. */
export function modelWithTrainingInfo(location: string): Uint8Array {
  const plain = pipeline([node('Relu', ['x'], ['y'])]);
  const training = GraphProto.encode(graph({ node: [add('w')], initializer: [external(location, 'w')] })).finish();
  // training_info is field 20 of ModelProto, initialization its field 1.
  const part = new BinaryWriter().uint32((20 << 3) | 2).fork();
  part
    .uint32((1 << 3) | 2)
    .bytes(training)
    .join();
  return Buffer.concat([plain, part.finish()]);
}
