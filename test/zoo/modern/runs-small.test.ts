import { imageNetwork } from '../../../src/zoo/tensor.js';
import { bert } from '../../../src/zoo/architectures/bert.js';
import { clipImage, clipText } from '../../../src/zoo/architectures/modern/clip.js';
import { convnext } from '../../../src/zoo/architectures/modern/convnext.js';
import { deeplabV3 } from '../../../src/zoo/architectures/modern/deeplab.js';
import { detr } from '../../../src/zoo/architectures/modern/detr.js';
import { diffusionUnet } from '../../../src/zoo/architectures/modern/diffusion-unet.js';
import { dlrm } from '../../../src/zoo/architectures/modern/dlrm.js';
import { efficientnet } from '../../../src/zoo/architectures/modern/efficientnet.js';
import { llamaDecoder } from '../../../src/zoo/architectures/modern/llama.js';
import { lstmLanguageModel } from '../../../src/zoo/architectures/modern/lstm.js';
import { mobilenetV3 } from '../../../src/zoo/architectures/modern/mobilenet-v3.js';
import { regnetY } from '../../../src/zoo/architectures/modern/regnet.js';
import { quantizedResnet } from '../../../src/zoo/architectures/modern/resnet50-int8.js';
import { resnext } from '../../../src/zoo/architectures/modern/resnext.js';
import { swin } from '../../../src/zoo/architectures/modern/swin.js';
import { t5Decoder, t5Encoder } from '../../../src/zoo/architectures/modern/t5.js';
import { wav2vec2 } from '../../../src/zoo/architectures/modern/wav2vec2.js';
import { whisperDecoder, whisperEncoder } from '../../../src/zoo/architectures/modern/whisper.js';
import { yoloV8 } from '../../../src/zoo/architectures/modern/yolov8.js';
import { vit } from '../../../src/zoo/architectures/vit.js';
import { runsSmall } from '../support/runs-small.js';

const LLAMA = { hidden: 64, layers: 2, heads: 4, keyValueHeads: 2, feedForward: 96, vocabulary: 64, tied: true };
const T5 = { hidden: 32, layers: 1, heads: 2, feedForward: 64 };
const WHISPER = { hidden: 32, layers: 1, heads: 2, frames: 20 };
const TOWER = { hidden: 32, layers: 1, heads: 2 };
const DETR = { hidden: 32, heads: 2, feedForward: 64, layers: 1, queries: 5 };
const ONCE = [1, 1, 1, 1] as const;

runsSmall('the architectures of today', {
  efficientnet: {
    define: efficientnet({
      stem: 8,
      size: 32,
      rows: [
        ['Fused-MBConv', 1, 3, 1, 8, 2],
        ['Fused-MBConv', 4, 3, 2, 16, 1],
        ['MBConv', 4, 5, 2, 16, 2],
      ],
    }),
  },
  convnext: { define: convnext({ depths: ONCE, width: 8, size: 32 }) },
  regnetY: {
    define: regnetY({
      stages: [
        [16, 1],
        [32, 2],
      ],
      groupWidth: 8,
      size: 32,
    }),
  },
  mobilenetV3: { define: mobilenetV3(32) },
  swin: { define: swin({ depths: [2, 1], width: 16, heads: 2, size: 56 }) },
  deit: { define: vit({ layers: 1, hidden: 32, heads: 2, patch: 16 }, 32) },
  bert: {
    define: bert({ layers: 1, hidden: 32, heads: 2, hasSegments: true }),
    dimensions: { sequence: 5 },
  },
  distilbert: {
    define: bert({ layers: 1, hidden: 32, heads: 2, hasSegments: false }),
    dimensions: { sequence: 5 },
  },
  t5Encoder: { define: t5Encoder(T5), dimensions: { sequence: 5 } },
  t5Decoder: { define: t5Decoder(T5), dimensions: { sequence: 5, encoder_sequence: 7 } },
  whisperEncoder: { define: whisperEncoder(WHISPER) },
  whisperDecoder: { define: whisperDecoder(WHISPER), dimensions: { sequence: 5 } },
  clipImage: { define: clipImage(TOWER, 64) },
  clipText: { define: clipText(TOWER), dimensions: { sequence: 5 } },
  wav2vec2: { define: wav2vec2({ hidden: 32, layers: 1, heads: 2, channels: 16, samples: 1600 }) },
  llamaPrefill: { define: llamaDecoder(LLAMA, 'prefill', 'float32'), dimensions: { sequence: 5 } },
  llamaDecode: { define: llamaDecoder(LLAMA, 'decode', 'float32'), dimensions: { past: 5 } },
  llamaInt4Prefill: { define: llamaDecoder(LLAMA, 'prefill', 'int4'), dimensions: { sequence: 5 } },
  llamaInt4Decode: { define: llamaDecoder({ ...LLAMA, tied: false }, 'decode', 'int4'), dimensions: { past: 5 } },
  resnet50Int8: { define: quantizedResnet([1, 1], 32) },
  diffusionUnet: { define: diffusionUnet({ size: 16, width: 32, levels: [1, 2], blocks: 1, attentionAt: 8 }) },
  yoloV8: { define: yoloV8({ size: 64, width: 8 }) },
  detr: { define: detr({ ...DETR, height: 32, width: 64, depths: ONCE }) },
  deeplabV3: { define: imageNetwork(64, deeplabV3(ONCE, 64, 8)) },
  dlrm: { define: dlrm({ dense: 4, tables: [10, 20, 3], features: 8, bottom: [16], top: [16] }) },
  lstm: { define: lstmLanguageModel({ hidden: 16, layers: 2, vocabulary: 50 }), dimensions: { sequence: 5 } },
});

runsSmall('architectures of today whose layers occur in others too', { resnext: { define: resnext(ONCE, 32) } }, [
  'kernel',
]);
