import type { ZooEntry } from '../../entry.js';
import { adainStyle } from './adain-style.js';
import { ademxappA, ademxappA1 } from './ademxapp.js';
import { capsnet } from './capsnet.js';
import { colorful, colornet } from './colorization.js';
import { contextAggregation } from './context-aggregation.js';
import { depthNet } from './depth-perception.js';
import { faceAlignment } from './face-alignment.js';
import { imageIdentify } from './image-identify.js';
import { inceptionV1 } from './inception-v1.js';
import { inceptionV3 } from './inception-v3.js';
import { mobilenetV2 } from './mobilenet-v2.js';
import { openNsfw, preactivatedResnet, resnet, wideResnet } from './resnet.js';
import { senet } from './senet.js';
import { squeezenet11 } from './squeezenet.js';
import { ssd300, ssd512 } from './ssd.js';
import { superResolution } from './super-resolution.js';
import { cycleGan, pix2pix } from './translation.js';
import { vgg } from './vgg.js';
import { volumetricRegression } from './volumetric-regression.js';
import type { Network } from '../../builder.js';
import { yoloV2 } from './yolo-v2.js';

/**
 * Multiply-accumulates of convolutions and fully connected layers, from the authors' repository. It does not count
 * transposed convolutions, and counts the holes of dilated ones, so rows with these have no number.
 */
type Row = readonly [name: string, title: string, define: Network, multiplyAccumulates?: number];

function entry([name, title, define, multiplyAccumulates]: Row, index: number): ZooEntry {
  return {
    name: `icpe2020_${String(index + 1).padStart(2, '0')}_${name}`,
    title,
    paper: `Li et al., DLBricks, ICPE 2020, doi:10.1145/3358960.3379143, table 1, row ${index + 1}`,
    multiplyAccumulates,
    source: 'MultiplyAdds in github.com/rai-project/synthetic_benchmark, state of 2019-10-18',
    dimensions: { batch: 1 },
    define,
  };
}

/** In the paper's order. Training data affects only a model's head, so several rows have one graph. */
const ROWS: readonly Row[] = [
  ['ademxapp_a', 'Ademxapp Model A Trained on ImageNet Competition Data', ademxappA(1000), 101_054_054_400],
  ['vgg16_age_lap', 'Age Estimation VGG-16 Trained on IMDB-WIKI and Looking at People Data', vgg(101), 15_466_582_016],
  ['vgg16_age', 'Age Estimation VGG-16 Trained on IMDB-WIKI Data', vgg(101), 15_466_582_016],
  ['capsnet', 'CapsNet Trained on MNIST Data', capsnet(), 200_732_672],
  ['vgg16_gender', 'Gender Prediction VGG-16 Trained on IMDB-WIKI Data', vgg(2), 15_466_176_512],
  [
    'inception_v1_subitizing',
    'Inception V1 Trained on Extended Salient Object Subitizing Data',
    inceptionV1(5),
    1_581_652_992,
  ],
  ['inception_v1', 'Inception V1 Trained on ImageNet Competition Data', inceptionV1(1000), 1_582_671_872],
  ['inception_v1_places', 'Inception V1 Trained on Places365 Data', inceptionV1(365), 1_582_021_632],
  ['inception_v3', 'Inception V3 Trained on ImageNet Competition Data', inceptionV3(), 5_713_232_480],
  ['mobilenet_v2', 'MobileNet V2 Trained on ImageNet Competition Data', mobilenetV2(), 582_197_616],
  ['resnet101', 'ResNet-101 Trained on ImageNet Competition Data', resnet(1000, [3, 4, 23, 3]), 7_570_194_432],
  [
    'resnet101_geotagged',
    'ResNet-101 Trained on YFCC100m Geotagged Data',
    preactivatedResnet(15_527, [3, 4, 23, 3]),
    7_831_156_736,
  ],
  ['resnet152', 'ResNet-152 Trained on ImageNet Competition Data', resnet(1000, [3, 8, 36, 3]), 11_282_415_616],
  ['resnet50', 'ResNet-50 Trained on ImageNet Competition Data', resnet(1000, [3, 4, 6, 3]), 3_857_973_248],
  ['senet', 'Squeeze-and-Excitation Net Trained on ImageNet Competition Data', senet(), 20_688_363_520],
  ['squeezenet1.1', 'SqueezeNet V1.1 Trained on ImageNet Competition Data', squeezenet11(), 387_747_520],
  ['vgg16', 'VGG-16 Trained on ImageNet Competition Data', vgg(1000), 15_470_264_320],
  ['vgg19', 'VGG-19 Trained on ImageNet Competition Data', vgg(1000, [2, 2, 4, 4, 4]), 19_632_062_464],
  ['wide_resnet50_2', 'Wide ResNet-50-2 Trained on ImageNet Competition Data', wideResnet(), 11_398_021_120],
  ['image_identify', 'Wolfram ImageIdentify Net V1', imageIdentify(), 1_990_598_656],
  ['open_nsfw', 'Yahoo Open NSFW Model V1', openNsfw(), 1_068_550_144],
  ['adain_style', 'AdaIN-Style Trained on MS-COCO and Painter by Numbers Data', adainStyle(), 189_800_644_608],
  ['colorful', 'Colorful Image Colorization Trained on ImageNet Competition Data', colorful()],
  ['colornet', 'ColorNet Image Colorization Trained on ImageNet Competition Data', colornet(1), 12_289_359_872],
  ['colornet_places', 'ColorNet Image Colorization Trained on Places Data', colornet(3), 13_111_443_456],
  ['cyclegan_apple_orange', 'CycleGAN Apple-to-Orange Translation Trained on ImageNet Competition Data', cycleGan()],
  ['cyclegan_horse_zebra', 'CycleGAN Horse-to-Zebra Translation Trained on ImageNet Competition Data', cycleGan()],
  ['cyclegan_monet_photo', 'CycleGAN Monet-to-Photo Translation', cycleGan()],
  ['cyclegan_orange_apple', 'CycleGAN Orange-to-Apple Translation Trained on ImageNet Competition Data', cycleGan()],
  ['cyclegan_photo_cezanne', 'CycleGAN Photo-to-Cezanne Translation', cycleGan('reflect')],
  ['cyclegan_photo_monet', 'CycleGAN Photo-to-Monet Translation', cycleGan()],
  ['cyclegan_photo_van_gogh', 'CycleGAN Photo-to-Van Gogh Translation', cycleGan('reflect')],
  ['cyclegan_summer_winter', 'CycleGAN Summer-to-Winter Translation', cycleGan()],
  ['cyclegan_winter_summer', 'CycleGAN Winter-to-Summer Translation', cycleGan()],
  ['cyclegan_zebra_horse', 'CycleGAN Zebra-to-Horse Translation Trained on ImageNet Competition Data', cycleGan()],
  ['pix2pix_photo_map', 'Pix2pix Photo-to-Street-Map Translation', pix2pix()],
  ['pix2pix_map_photo', 'Pix2pix Street-Map-to-Photo Translation', pix2pix()],
  ['super_resolution', 'Very Deep Net for Super-Resolution', superResolution(), 43_222_377_600],
  ['ssd_vgg_300', 'SSD-VGG-300 Trained on PASCAL VOC Data', ssd300()],
  ['ssd_vgg_512', 'SSD-VGG-512 Trained on MS-COCO Data', ssd512()],
  ['yolo_v2', 'YOLO V2 Trained on MS-COCO Data', yoloV2(), 14_732_084_224],
  ['face_alignment_2d', '2D Face Alignment Net Trained on 300W Large Pose Data', faceAlignment(), 25_235_292_160],
  ['face_alignment_3d', '3D Face Alignment Net Trained on 300W Large Pose Data', faceAlignment(), 25_235_292_160],
  ['depth_wild', 'Single-Image Depth Perception Net Trained on Depth in the Wild Data', depthNet(), 47_127_552_000],
  [
    'depth_nyu_wild',
    'Single-Image Depth Perception Net Trained on NYU Depth V2 and Depth in the Wild Data',
    depthNet(),
    47_127_552_000,
  ],
  ['depth_nyu', 'Single-Image Depth Perception Net Trained on NYU Depth V2 Data', depthNet(), 47_127_552_000],
  [
    'volumetric_regression',
    'Unguided Volumetric Regression Net for 3D Face Reconstruction',
    volumetricRegression(),
    24_467_668_992,
  ],
  ['ademxapp_a1_ade20k', 'Ademxapp Model A1 Trained on ADE20K Data', ademxappA1(150)],
  ['ademxapp_a1_voc', 'Ademxapp Model A1 Trained on PASCAL VOC2012 and MS-COCO Data', ademxappA1(21)],
  ['context_aggregation', 'Multi-scale Context Aggregation Net Trained on CamVid Data', contextAggregation()],
];

export const ICPE2020: readonly ZooEntry[] = ROWS.map(entry);
