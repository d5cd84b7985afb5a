import { fixed, type Network, type Value } from '../../builder.js';
import { conv, linear } from '../../convolution.js';
import type { ZooEntry } from '../../entry.js';
import { instanceNorm } from '../../normalization.js';
import { resize } from '../../shaping.js';
import {
  add,
  chain,
  concat,
  type Layer,
  matMul,
  mul,
  reshape,
  silu,
  softmax,
  transpose,
  unsqueeze,
} from '../../tensor.js';
import { maskAsFloat } from '../../transformer.js';

const GROUPS = 32;

/** In the operators that exporters write below opset 18. Source: Wu and He, Group Normalization, arXiv:1803.08494. */
const groupNorm: Layer = (x) => {
  const channels = fixed(x, 1);
  const height = fixed(x, 2);
  const width = fixed(x, 3);
  const grouped = instanceNorm(1e-6, { isLearned: false })(reshape(x, [0, GROUPS, -1]));
  const restored = reshape(grouped, [0, channels, height, width]);
  const learned = (role: string, low: number, high: number): Value => x.graph.weight(role, [channels, 1, 1], low, high);
  return add(mul(restored, learned('scale', 0.9, 1.1)), learned('bias', -0.1, 0.1));
};

const convolution = (channels: number): Layer => conv(channels, 3, { padding: 1 });

function residualBlock(channels: number, time: Value): Layer {
  return (x) => {
    const ofTime = unsqueeze(chain(silu, linear(channels))(time), [2, 3]);
    const first = add(chain(groupNorm, silu, convolution(channels))(x), ofTime);
    const second = chain(groupNorm, silu, convolution(channels))(first);
    return add(second, fixed(x, 1) === channels ? x : conv(channels, 1)(x));
  };
}

const attention: Layer = (x) => {
  const channels = fixed(x, 1);
  const height = fixed(x, 2);
  const width = fixed(x, 3);
  const normalized = groupNorm(x);
  const projected = (): Value => reshape(conv(channels, 1)(normalized), [0, channels, height * width]);
  const scores = matMul(transpose(projected(), [0, 2, 1]), projected());
  const weights = softmax(mul(scores, x.graph.scalar('scale', channels ** -0.5)));
  const mixed = reshape(matMul(projected(), transpose(weights, [0, 2, 1])), [0, channels, height, width]);
  return add(x, conv(channels, 1)(mixed));
};

function timeEmbedding(step: Value, width: number): Value {
  const { graph } = step;
  const half = width / 2;
  const frequencies = Array.from({ length: half }, (_, i) => 10_000 ** (-i / (half - 1)));
  const angles = mul(unsqueeze(maskAsFloat(step), [1]), graph.floats('frequencies', frequencies));
  const waves = concat(1, [graph.apply('Sin', [angles], angles), graph.apply('Cos', [angles], angles)]);
  return chain(linear(4 * width), silu, linear(4 * width))(waves);
}

interface UnetSize {
  readonly size: number;
  readonly width: number;
  readonly levels: readonly number[];
  readonly blocks: number;
  readonly attentionAt: number;
}

export function diffusionUnet({ size, width, levels, blocks, attentionAt }: UnetSize): Network {
  return (graph) => {
    const sample = graph.input('sample', 'float32', ['batch', 3, size, size]);
    const time = timeEmbedding(graph.input('timestep', 'int64', ['batch']), width);
    const step =
      (channels: number): Layer =>
      (x) => {
        const seen = residualBlock(channels, time)(x);
        return fixed(seen, 2) === attentionAt ? attention(seen) : seen;
      };

    let x = convolution(width)(sample);
    const skipped: Value[] = [x];
    for (const [i, level] of levels.entries()) {
      for (let block = 0; block < blocks; block++) skipped.push((x = step(level * width)(x)));
      if (i < levels.length - 1) skipped.push((x = conv(level * width, 3, { stride: 2, padding: 1 })(x)));
    }
    const deepest = (levels.at(-1) ?? 1) * width;
    x = chain(residualBlock(deepest, time), attention, residualBlock(deepest, time))(x);
    for (const [i, level] of [...levels.entries()].reverse()) {
      for (let block = 0; block <= blocks; block++) {
        const skip = skipped.pop();
        if (skip !== undefined) x = step(level * width)(concat(1, [x, skip]));
      }
      if (i > 0) x = chain(resize('nearest', 2), convolution(level * width))(x);
    }
    graph.output('noise', chain(groupNorm, silu, convolution(3))(x));
  };
}

export const ddpmCifar10: ZooEntry = {
  name: 'ddpm_cifar10',
  title: 'DDPM U-Net, CIFAR-10',
  paper: 'Ho et al., Denoising Diffusion Probabilistic Models, NeurIPS 2020, arXiv:2006.11239',
  parameters: 35_746_307,
  source: 'UNet2DModel of google/ddpm-cifar10-32 (the paper, appendix B: 35.7 million)',
  dimensions: { batch: 1 },
  define: diffusionUnet({ size: 32, width: 128, levels: [1, 2, 2, 2], blocks: 2, attentionAt: 16 }),
};
