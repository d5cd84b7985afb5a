import { int } from '../../../onnx/model/make-attributes.js';
import { dimension, fixed, type Network } from '../../builder.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { chain, gatherRows, type Layer, repeated, transpose } from '../../tensor.js';
import { dense } from '../../transformer.js';

interface LstmSize {
  readonly hidden: number;
  readonly layers: number;
  readonly vocabulary: number;
}

function lstm(hidden: number): Layer {
  return (x) => {
    const { graph } = x;
    const sequence = dimension(x, 0);
    const batch = dimension(x, 1);
    const features = fixed(x, 2);
    const bound = hidden ** -0.5;
    const weights = [
      graph.weight('input_weight', [1, 4 * hidden, features], -bound, bound),
      graph.weight('state_weight', [1, 4 * hidden, hidden], -bound, bound),
      graph.weight('bias', [1, 8 * hidden], -bound, bound),
    ];
    const states = graph.apply('LSTM', [x, ...weights], [sequence, 1, batch, hidden], [int('hidden_size', hidden)]);
    return graph.apply('Squeeze', [states, graph.integers('axes', [1])], [sequence, batch, hidden]);
  };
}

export function lstmLanguageModel({ hidden, layers, vocabulary }: LstmSize): Network {
  return (graph) => {
    const words = graph.input('input_ids', 'int64', ['batch', 'sequence']);
    const swapAxes: Layer = (x) => transpose(x, [1, 0, 2]);
    const stack = repeated(layers, lstm(hidden));
    const embedded = gatherRows(embedding(graph, [vocabulary, hidden]), words);
    graph.output('logits', chain(swapAxes, stack, swapAxes, dense(vocabulary))(embedded));
  };
}

/** Two layers of four gates on two vectors, and the head. */
const PER_WORD = 2 * 4 * 2 * 1500 ** 2 + 1500 * 10_000;

export const lstmLarge: ZooEntry = {
  name: 'lstm_large',
  title: 'LSTM language model, large',
  paper: 'Zaremba et al., Recurrent Neural Network Regularization, 2014, arXiv:1409.2329',
  parameters: 2 * 10_000 * 1500 + 2 * (8 * 1500 ** 2 + 8 * 1500) + 10_000,
  multiplyAccumulates: 128 * PER_WORD,
  source:
    'parameters: 66M in table 1 of Merity et al., arXiv:1708.02182; to the last digit they and the ' +
    'multiply-accumulates follow from the sizes in section 4.1 of the paper, 1500 units and 10,000 words',
  dimensions: { batch: 1, sequence: 128 },
  define: lstmLanguageModel({ hidden: 1500, layers: 2, vocabulary: 10_000 }),
};
