import { floats, graph, graphAttribute, int, integers, model, node, tensor, tensorAttribute, value } from './protos.js';

/** Weights of 100 KiB: a runtime would put them into a file of their own, and they share bytes while a graph is optimized. */
const SIZE = 160;
const weights = (name: string) => floats(name, new Array<number>(SIZE * SIZE).fill(0.01), [SIZE, SIZE]);
const lasting = integers(
  '',
  Array.from({ length: 900 }, (_, index) => BigInt(index % SIZE)),
);

/** x times a weight, plus the largest value of some columns that a constant selects. */
function branch(name: string, input: string) {
  return graph({
    name,
    node: [
      node('MatMul', [input, `w_${name}`], [`m_${name}`]),
      node('Constant', [], [`order_${name}`], [tensorAttribute('value', lasting)]),
      node('Gather', [`m_${name}`, `order_${name}`], [`g_${name}`], [int('axis', 1)]),
      node('ReduceMax', [`g_${name}`], [`r_${name}`], []),
      node('Add', [`m_${name}`, `r_${name}`], [`o_${name}`]),
    ],
    output: [value(`o_${name}`, [1, SIZE])],
    initializer: [weights(`w_${name}`)],
  });
}

const scalar = (name: string, elementType: 'int64' | 'bool', rawData: Uint8Array) => {
  return tensor(name, elementType, [], { rawData });
};

const branches = (input: string) => [
  graphAttribute('then_branch', branch('then', input)),
  graphAttribute('else_branch', branch('else', input)),
];

const ends = { input: [value('x', [1, SIZE])], output: [value('y', [1, SIZE])] };

const ifModel = model({
  node: [
    node('ReduceMax', ['x'], ['largest'], [int('keepdims', 0)]),
    node('Greater', ['largest', 'limit'], ['flag']),
    node('If', ['flag'], ['y'], branches('x')),
  ],
  initializer: [floats('limit', [0], [])],
  ...ends,
});

const loopModel = model({
  node: [
    node(
      'Loop',
      ['trips', 'goes_on', 'x'],
      ['y'],
      [
        graphAttribute(
          'body',
          graph({
            input: [value('i', [], 'int64'), value('on', [], 'bool'), value('state', [1, SIZE])],
            node: [node('If', ['on'], ['next'], branches('state')), node('Identity', ['on'], ['still_on'])],
            output: [value('still_on', [], 'bool'), value('next', [1, SIZE])],
          }),
        ),
      ],
    ),
  ],
  initializer: [
    scalar('trips', 'int64', new Uint8Array(BigInt64Array.of(3n).buffer)),
    scalar('goes_on', 'bool', Uint8Array.of(1)),
  ],
  ...ends,
});

const scanModel = model({
  input: [value('x', [1, SIZE]), value('steps', [5, 1, SIZE])],
  node: [
    node(
      'Scan',
      ['x', 'steps'],
      ['y', 'all'],
      [
        int('num_scan_inputs', 1),
        graphAttribute(
          'body',
          graph({
            input: [value('state', [1, SIZE]), value('step', [1, SIZE])],
            node: [
              node('MatMul', ['state', 'w'], ['product']),
              node('Add', ['product', 'step'], ['sum']),
              node('Tanh', ['sum'], ['next']),
              node('Identity', ['next'], ['out']),
            ],
            output: [value('next', [1, SIZE]), value('out', [1, SIZE])],
            initializer: [weights('w')],
          }),
        ),
      ],
    ),
  ],
  output: [value('y', [1, SIZE])],
});

/** Models whose subgraphs hold weights and constants that steer operators. Those of the Loop are two levels deep. */
export const CONTROL_FLOW: Readonly<Record<'If' | 'Loop' | 'Scan', Uint8Array>> = {
  If: ifModel,
  Loop: loopModel,
  Scan: scanModel,
};
