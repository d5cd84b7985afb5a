import { int, ints } from '../onnx/model/make-attributes.js';
import { dimension, fixed } from './builder.js';
import { bias, weight } from './initialization.js';
import type { Layer } from './tensor.js';

interface SequenceConvolutionOptions {
  readonly stride?: number;
  readonly padding?: number;
  readonly groups?: number;
  readonly bias?: boolean;
}

export function sequenceConv(channels: number, kernel: number, options: SequenceConvolutionOptions = {}): Layer {
  const { stride = 1, padding = 0, groups = 1, bias: biased = true } = options;
  return (x) => {
    const inputs = fixed(x, 1) / groups;
    const length = Math.floor((fixed(x, 2) + 2 * padding - kernel) / stride) + 1;
    const weights = [
      weight(x.graph, [channels, inputs, kernel], inputs * kernel),
      ...(biased ? [bias(x.graph, channels)] : []),
    ];
    const output = { elementType: x.elementType, dims: [dimension(x, 0), channels, length] };
    return x.graph.apply('Conv', [x, ...weights], output, [
      ints('dilations', [1]),
      int('group', groups),
      ints('kernel_shape', [kernel]),
      ints('pads', [padding, padding]),
      ints('strides', [stride]),
    ]);
  };
}
