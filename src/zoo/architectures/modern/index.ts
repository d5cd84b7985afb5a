import type { ZooEntry } from '../../entry.js';
import { bertLarge, distilbert } from '../bert.js';
import { deitS } from '../vit.js';
import { clipVitB32Image, clipVitB32Text } from './clip.js';
import { CONVNEXT } from './convnext.js';
import { ddpmCifar10 } from './diffusion-unet.js';
import { deeplabV3Resnet50 } from './deeplab.js';
import { detrResnet50 } from './detr.js';
import { dlrmCriteo } from './dlrm.js';
import { EFFICIENTNETS } from './efficientnet.js';
import { LLAMAS } from './llama.js';
import { lstmLarge } from './lstm.js';
import { MOBILENET_V3 } from './mobilenet-v3.js';
import { REGNET } from './regnet.js';
import { resnet50Int8 } from './resnet50-int8.js';
import { RESNEXT } from './resnext.js';
import { SWIN } from './swin.js';
import { t5SmallDecoder, t5SmallEncoder } from './t5.js';
import { wav2vec2Base } from './wav2vec2.js';
import { whisperTinyDecoder, whisperTinyEncoder } from './whisper.js';
import { yoloV8n } from './yolov8.js';

export const MODERN: readonly ZooEntry[] = [
  ...RESNEXT,
  ...EFFICIENTNETS,
  ...CONVNEXT,
  ...REGNET,
  ...MOBILENET_V3,
  ...SWIN,
  deitS,
  bertLarge,
  distilbert,
  t5SmallEncoder,
  t5SmallDecoder,
  whisperTinyEncoder,
  whisperTinyDecoder,
  clipVitB32Image,
  clipVitB32Text,
  wav2vec2Base,
  ...LLAMAS,
  resnet50Int8,
  ddpmCifar10,
  yoloV8n,
  detrResnet50,
  deeplabV3Resnet50,
  dlrmCriteo,
  lstmLarge,
];
