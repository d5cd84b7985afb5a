import { adainStyle } from '../../../src/zoo/architectures/icpe2020/adain-style.js';
import { ademxappA, ademxappA1 } from '../../../src/zoo/architectures/icpe2020/ademxapp.js';
import { capsnet } from '../../../src/zoo/architectures/icpe2020/capsnet.js';
import { colorful, colornet } from '../../../src/zoo/architectures/icpe2020/colorization.js';
import { contextAggregation } from '../../../src/zoo/architectures/icpe2020/context-aggregation.js';
import { depthNet } from '../../../src/zoo/architectures/icpe2020/depth-perception.js';
import { faceAlignment } from '../../../src/zoo/architectures/icpe2020/face-alignment.js';
import { imageIdentify } from '../../../src/zoo/architectures/icpe2020/image-identify.js';
import { inceptionV1 } from '../../../src/zoo/architectures/icpe2020/inception-v1.js';
import { inceptionV3 } from '../../../src/zoo/architectures/icpe2020/inception-v3.js';
import { mobilenetV2 } from '../../../src/zoo/architectures/icpe2020/mobilenet-v2.js';
import { openNsfw, preactivatedResnet, resnet, wideResnet } from '../../../src/zoo/architectures/icpe2020/resnet.js';
import { senet } from '../../../src/zoo/architectures/icpe2020/senet.js';
import { squeezenet11 } from '../../../src/zoo/architectures/icpe2020/squeezenet.js';
import { ssd300 } from '../../../src/zoo/architectures/icpe2020/ssd.js';
import { superResolution } from '../../../src/zoo/architectures/icpe2020/super-resolution.js';
import { cycleGan, pix2pix } from '../../../src/zoo/architectures/icpe2020/translation.js';
import { vgg } from '../../../src/zoo/architectures/icpe2020/vgg.js';
import { volumetricRegression } from '../../../src/zoo/architectures/icpe2020/volumetric-regression.js';
import { yoloV2 } from '../../../src/zoo/architectures/icpe2020/yolo-v2.js';
import { runsSmall } from '../support/runs-small.js';

const ONCE = [1, 1, 1, 1] as const;

runsSmall('the families of the paper', {
  ademxappA: { define: ademxappA(10, { size: 32, width: 8 }) },
  vgg: { define: vgg(10, [1, 1, 1, 1, 1], { size: 32, width: 8 }) },
  capsnet: { define: capsnet(8) },
  resnet: { define: resnet(10, ONCE, { size: 32, width: 8 }) },
  preactivatedResnet: { define: preactivatedResnet(10, ONCE, { size: 32, width: 8 }) },
  adainStyle: { define: adainStyle({ size: 32, width: 8 }) },
  colorful: { define: colorful({ size: 32, width: 8 }) },
  colornet: { define: colornet(3, { size: 32, width: 8 }) },
  cycleGan: { define: cycleGan('reflect', { size: 16, width: 8 }) },
  pix2pix: { define: pix2pix({ size: 256, width: 2 }) },
  superResolution: { define: superResolution({ size: 16, width: 8 }) },
  ssd300: { define: ssd300({ width: 4 }) },
  yoloV2: { define: yoloV2({ size: 64, width: 8 }) },
  contextAggregation: { define: contextAggregation({ height: 380, length: 388, width: 2 }) },
});

runsSmall(
  'the families of the paper whose layers occur in other families too',
  {
    ademxappA1: { define: ademxappA1(10, { size: 32, width: 8 }) },
    inceptionV1: { define: inceptionV1(10, 32) },
    inceptionV3: { define: inceptionV3(75) },
    mobilenetV2: { define: mobilenetV2(32) },
    openNsfw: { define: openNsfw({ size: 32, width: 16 }) },
    wideResnet: { define: wideResnet({ size: 32, width: 8 }) },
    senet: { define: senet(ONCE, 32) },
    squeezenet11: { define: squeezenet11(67) },
    imageIdentify: { define: imageIdentify(64) },
    faceAlignment: { define: faceAlignment({ size: 64, width: 8, stacks: 2 }) },
    depthPerception: { define: depthNet({ height: 32, length: 32, width: 4 }) },
    volumetricRegression: { define: volumetricRegression({ size: 32, width: 8, depth: 2 }) },
  },
  ['kernel'],
);
