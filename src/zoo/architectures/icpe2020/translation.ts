import { leakyRelu, tanhImage } from '../../activation.js';
import { conv, deconv, residual } from '../../convolution.js';
import { instanceNorm } from '../../normalization.js';
import { pad, withoutFirstRowAndColumn } from '../../shaping.js';
import type { Network } from '../../builder.js';
import { chain, concat, dropout, imageNetwork, type Layer, plus, relu, repeated, times } from '../../tensor.js';

const centered = chain(times(2), plus(-1));

const norm = instanceNorm();

function residualBlock(channels: number): Layer {
  const convolution = chain(pad('reflect', 1, 1), conv(channels, 3), norm);
  return residual(chain(convolution, relu, convolution));
}

type Border = 'zeros' | 'reflect';

/** Some of the trained models mirror the image at its edges here as well. */
function shrink(channels: number, border: Border): Layer {
  const convolution =
    border === 'zeros'
      ? conv(channels, 3, { stride: 2, padding: 1 })
      : chain(pad('reflect', 1, 1), conv(channels, 3, { stride: 2 }));
  return chain(convolution, norm, relu);
}

function enlarge(channels: number): Layer {
  return chain(deconv(channels, 3, { stride: 2 }), withoutFirstRowAndColumn, norm, relu);
}

/** The generator of Zhu et al., CycleGAN, arXiv:1703.10593. */
export function cycleGan(border: Border = 'zeros', { size = 256, width = 32 } = {}): Network {
  return imageNetwork(
    size,
    centered,
    pad('reflect', 3, 3),
    conv(width, 7),
    norm,
    relu,
    shrink(2 * width, border),
    shrink(4 * width, border),
    repeated(9, residualBlock(4 * width)),
    enlarge(2 * width),
    enlarge(width),
    pad('reflect', 3, 3),
    conv(3, 7),
    tanhImage,
  );
}

const leaky = leakyRelu(0.2);

function unetStep(inner: Layer, channels: number, outer: number, drops: boolean): Layer {
  return (x) => {
    const activated = leaky(x);
    const down = chain(conv(channels, 4, { stride: 2, padding: 1 }), inner)(activated);
    const up = chain(relu, deconv(outer, 4, { stride: 2, padding: 1 }), norm, ...(drops ? [dropout] : []))(down);
    return concat(1, [up, activated]);
  };
}

/** The generator of Isola et al., Pix2pix, arXiv:1611.07004: a U-Net down to one pixel at a size of 256. */
export function pix2pix({ size = 256, width = 64 } = {}): Network {
  const channels = [2, 4, 8, 8, 8, 8].map((factor) => factor * width);
  const innermost: Layer = unetStep((x) => x, 8 * width, 8 * width, true);
  const steps = channels.reduceRight<Layer>((inner, width_, i) => {
    const outer = channels[i - 1] ?? width;
    return unetStep(chain(norm, inner), width_, outer, i >= 4);
  }, innermost);
  const halved = { stride: 2, padding: 1 };
  return imageNetwork(size, centered, conv(width, 4, halved), steps, relu, deconv(3, 4, halved), tanhImage);
}
