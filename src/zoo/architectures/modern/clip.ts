import type { Network, Value } from '../../builder.js';
import type { ZooEntry } from '../../entry.js';
import { embedding } from '../../initialization.js';
import { entry } from '../../shaping.js';
import { add, bestEntry, chain, gatherRows, type Layer, repeated } from '../../tensor.js';
import {
  attention,
  causalBias,
  dense,
  layerNorm,
  prenormed,
  project,
  quickGelu,
  type TransformerSize,
} from '../../transformer.js';
import { patches, withClassToken, withPositions } from '../vit.js';

const VOCABULARY = 49_408;
const POSITIONS = 77;
/** Of each tower's output. */
const FEATURES = 512;

const norm = layerNorm(1e-5);

function encoder({ hidden, layers, heads }: TransformerSize, bias?: Value): Layer {
  const attend = prenormed(norm, attention({ heads, bias }));
  const feed = prenormed(norm, dense(4 * hidden), quickGelu, dense(hidden));
  return repeated(layers, chain(attend, feed));
}

export function clipImage(tower: TransformerSize, pixels = 224): Network {
  return (graph) => {
    const image = graph.input('pixel_values', 'float32', ['batch', 3, pixels, pixels]);
    const layers = chain(
      patches(tower.hidden, 32, { bias: false }),
      withClassToken,
      withPositions,
      norm,
      encoder(tower),
      entry(1, 0),
      norm,
      project(FEATURES),
    );
    graph.output('image_embeds', layers(image));
  };
}

export function clipText(tower: TransformerSize): Network {
  return (graph) => {
    const [words, mask, positions] = graph.textInputs();
    const placed = add(
      gatherRows(embedding(graph, [VOCABULARY, tower.hidden]), words),
      gatherRows(embedding(graph, [POSITIONS, tower.hidden]), positions),
    );
    const hidden = chain(encoder(tower, causalBias(mask)), norm)(placed);
    // The token at the end of a text has the highest number.
    graph.output('text_embeds', project(FEATURES)(bestEntry(hidden, words)));
  };
}

const PAPER =
  'Radford et al., Learning Transferable Visual Models From Natural Language Supervision, arXiv:2103.00020, 2021';

const SOURCE =
  'parameters: n_parameters of openai/clip-vit-base-patch32 in github.com/embeddings-benchmark/mteb, 151,277,313 with ' +
  'one temperature, of which 63,428,096 are in the tower for texts; multiply-accumulates: the matrix products in ' +
  'appendix F of Hoffmann et al., arXiv:2203.15556, the patches and the projection';

export const clipVitB32Image: ZooEntry = {
  name: 'clip_vit_b_32_image',
  title: 'CLIP ViT-B/32, images',
  paper: PAPER,
  parameters: 151_277_313 - 1 - 63_428_096,
  multiplyAccumulates: 4_408_811_520,
  source: SOURCE,
  dimensions: { batch: 1 },
  define: clipImage({ hidden: 768, layers: 12, heads: 12 }),
};

export const clipVitB32Text: ZooEntry = {
  name: 'clip_vit_b_32_text',
  title: 'CLIP ViT-B/32, texts',
  paper: PAPER,
  parameters: 63_428_096,
  multiplyAccumulates: 2_979_770_368,
  source: SOURCE,
  dimensions: { batch: 1, sequence: 77 },
  define: clipText({ hidden: 512, layers: 12, heads: 8 }),
};
