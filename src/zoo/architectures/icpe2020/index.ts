import type { ZooEntry } from '../../entry.js';
import { adainStyle } from './adain-style.js';
import { ademxappA, ademxappA1 } from './ademxapp.js';
import { capsnet } from './capsnet.js';
import { colorful, colornet } from './colorization.js';
import { contextAggregation } from './context-aggregation.js';
import { depthPerception } from './depth-perception.js';
import { faceAlignment } from './face-alignment.js';
import { imageIdentify } from './image-identify.js';
import { inceptionV1 } from './inception-v1.js';
import { inceptionV3 } from './inception-v3.js';
import { mobilenetV2 } from './mobilenet-v2.js';
import type { Network } from './network.js';
import { openNsfw, preactivatedResnet, resnet, wideResnet } from './resnet.js';
import { senet } from './senet.js';
import { squeezenet11 } from './squeezenet.js';
import { ssd300, ssd512 } from './ssd.js';
import { superResolution } from './super-resolution.js';
import { cycleGan, pix2pix } from './translation.js';
import { vgg } from './vgg.js';
import { volumetricRegression } from './volumetric-regression.js';
import { yoloV2 } from './yolo-v2.js';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly title: string;
  /**
   * Multiply-accumulates of convolutions and fully connected layers, from the authors' repository. The repository does
   * not count transposed convolutions, and counts the holes of dilated convolutions. So rows with these have no number.
   */
  readonly multiplyAccumulates?: number;
  readonly define: Network;
}

function row({ id, name, title, multiplyAccumulates, define }: Row): ZooEntry {
  return {
    name: `icpe2020_${String(id).padStart(2, '0')}_${name}`,
    title,
    paper: `Li et al., DLBricks, ICPE 2020, doi:10.1145/3358960.3379143, table 1, row ${id}`,
    published: {
      multiplyAccumulates,
      source: 'MultiplyAdds in github.com/rai-project/synthetic_benchmark, state of 2019-10-18',
    },
    dimensions: { batch: 1 },
    define,
  };
}

const VGG16 = [2, 2, 3, 3, 3] as const;
const VGG19 = [2, 2, 4, 4, 4] as const;

/**
 * The models of the paper, layer by layer as its authors ran them. The training data affects only a model's head, so
 * several rows have one graph.
 */
export const ICPE2020: readonly ZooEntry[] = [
  row({
    id: 1,
    name: 'ademxapp_a',
    title: 'Ademxapp Model A Trained on ImageNet Competition Data',
    multiplyAccumulates: 101_054_054_400,
    define: ademxappA(1000, { size: 320 }),
  }),
  row({
    id: 2,
    name: 'vgg16_age_lap',
    title: 'Age Estimation VGG-16 Trained on IMDB-WIKI and Looking at People Data',
    multiplyAccumulates: 15_466_582_016,
    define: vgg(101, { depths: VGG16 }),
  }),
  row({
    id: 3,
    name: 'vgg16_age',
    title: 'Age Estimation VGG-16 Trained on IMDB-WIKI Data',
    multiplyAccumulates: 15_466_582_016,
    define: vgg(101, { depths: VGG16 }),
  }),
  row({
    id: 4,
    name: 'capsnet',
    title: 'CapsNet Trained on MNIST Data',
    multiplyAccumulates: 200_732_672,
    define: capsnet(),
  }),
  row({
    id: 5,
    name: 'vgg16_gender',
    title: 'Gender Prediction VGG-16 Trained on IMDB-WIKI Data',
    multiplyAccumulates: 15_466_176_512,
    define: vgg(2, { depths: VGG16 }),
  }),
  row({
    id: 6,
    name: 'inception_v1_subitizing',
    title: 'Inception V1 Trained on Extended Salient Object Subitizing Data',
    multiplyAccumulates: 1_581_652_992,
    define: inceptionV1(5),
  }),
  row({
    id: 7,
    name: 'inception_v1',
    title: 'Inception V1 Trained on ImageNet Competition Data',
    multiplyAccumulates: 1_582_671_872,
    define: inceptionV1(1000),
  }),
  row({
    id: 8,
    name: 'inception_v1_places',
    title: 'Inception V1 Trained on Places365 Data',
    multiplyAccumulates: 1_582_021_632,
    define: inceptionV1(365),
  }),
  row({
    id: 9,
    name: 'inception_v3',
    title: 'Inception V3 Trained on ImageNet Competition Data',
    multiplyAccumulates: 5_713_232_480,
    define: inceptionV3(),
  }),
  row({
    id: 10,
    name: 'mobilenet_v2',
    title: 'MobileNet V2 Trained on ImageNet Competition Data',
    multiplyAccumulates: 582_197_616,
    define: mobilenetV2(),
  }),
  row({
    id: 11,
    name: 'resnet101',
    title: 'ResNet-101 Trained on ImageNet Competition Data',
    multiplyAccumulates: 7_570_194_432,
    define: resnet(1000, { depths: [3, 4, 23, 3] }),
  }),
  row({
    id: 12,
    name: 'resnet101_geotagged',
    title: 'ResNet-101 Trained on YFCC100m Geotagged Data',
    multiplyAccumulates: 7_831_156_736,
    define: preactivatedResnet(15_527, { depths: [3, 4, 23, 3] }),
  }),
  row({
    id: 13,
    name: 'resnet152',
    title: 'ResNet-152 Trained on ImageNet Competition Data',
    multiplyAccumulates: 11_282_415_616,
    define: resnet(1000, { depths: [3, 8, 36, 3] }),
  }),
  row({
    id: 14,
    name: 'resnet50',
    title: 'ResNet-50 Trained on ImageNet Competition Data',
    multiplyAccumulates: 3_857_973_248,
    define: resnet(1000, { depths: [3, 4, 6, 3] }),
  }),
  row({
    id: 15,
    name: 'senet',
    title: 'Squeeze-and-Excitation Net Trained on ImageNet Competition Data',
    multiplyAccumulates: 20_688_363_520,
    define: senet(),
  }),
  row({
    id: 16,
    name: 'squeezenet1.1',
    title: 'SqueezeNet V1.1 Trained on ImageNet Competition Data',
    multiplyAccumulates: 387_747_520,
    define: squeezenet11(),
  }),
  row({
    id: 17,
    name: 'vgg16',
    title: 'VGG-16 Trained on ImageNet Competition Data',
    multiplyAccumulates: 15_470_264_320,
    define: vgg(1000, { depths: VGG16 }),
  }),
  row({
    id: 18,
    name: 'vgg19',
    title: 'VGG-19 Trained on ImageNet Competition Data',
    multiplyAccumulates: 19_632_062_464,
    define: vgg(1000, { depths: VGG19 }),
  }),
  row({
    id: 19,
    name: 'wide_resnet50_2',
    title: 'Wide ResNet-50-2 Trained on ImageNet Competition Data',
    multiplyAccumulates: 11_398_021_120,
    define: wideResnet(),
  }),
  row({
    id: 20,
    name: 'image_identify',
    title: 'Wolfram ImageIdentify Net V1',
    multiplyAccumulates: 1_990_598_656,
    define: imageIdentify(),
  }),
  row({
    id: 21,
    name: 'open_nsfw',
    title: 'Yahoo Open NSFW Model V1',
    multiplyAccumulates: 1_068_550_144,
    define: openNsfw(),
  }),
  row({
    id: 22,
    name: 'adain_style',
    title: 'AdaIN-Style Trained on MS-COCO and Painter by Numbers Data',
    multiplyAccumulates: 189_800_644_608,
    define: adainStyle(),
  }),
  row({
    id: 23,
    name: 'colorful',
    title: 'Colorful Image Colorization Trained on ImageNet Competition Data',
    define: colorful(),
  }),
  row({
    id: 24,
    name: 'colornet',
    title: 'ColorNet Image Colorization Trained on ImageNet Competition Data',
    multiplyAccumulates: 12_289_359_872,
    define: colornet(1),
  }),
  row({
    id: 25,
    name: 'colornet_places',
    title: 'ColorNet Image Colorization Trained on Places Data',
    multiplyAccumulates: 13_111_443_456,
    define: colornet(3),
  }),
  row({
    id: 26,
    name: 'cyclegan_apple_orange',
    title: 'CycleGAN Apple-to-Orange Translation Trained on ImageNet Competition Data',
    define: cycleGan('zeros'),
  }),
  row({
    id: 27,
    name: 'cyclegan_horse_zebra',
    title: 'CycleGAN Horse-to-Zebra Translation Trained on ImageNet Competition Data',
    define: cycleGan('zeros'),
  }),
  row({
    id: 28,
    name: 'cyclegan_monet_photo',
    title: 'CycleGAN Monet-to-Photo Translation',
    define: cycleGan('zeros'),
  }),
  row({
    id: 29,
    name: 'cyclegan_orange_apple',
    title: 'CycleGAN Orange-to-Apple Translation Trained on ImageNet Competition Data',
    define: cycleGan('zeros'),
  }),
  row({
    id: 30,
    name: 'cyclegan_photo_cezanne',
    title: 'CycleGAN Photo-to-Cezanne Translation',
    define: cycleGan('reflect'),
  }),
  row({
    id: 31,
    name: 'cyclegan_photo_monet',
    title: 'CycleGAN Photo-to-Monet Translation',
    define: cycleGan('zeros'),
  }),
  row({
    id: 32,
    name: 'cyclegan_photo_van_gogh',
    title: 'CycleGAN Photo-to-Van Gogh Translation',
    define: cycleGan('reflect'),
  }),
  row({
    id: 33,
    name: 'cyclegan_summer_winter',
    title: 'CycleGAN Summer-to-Winter Translation',
    define: cycleGan('zeros'),
  }),
  row({
    id: 34,
    name: 'cyclegan_winter_summer',
    title: 'CycleGAN Winter-to-Summer Translation',
    define: cycleGan('zeros'),
  }),
  row({
    id: 35,
    name: 'cyclegan_zebra_horse',
    title: 'CycleGAN Zebra-to-Horse Translation Trained on ImageNet Competition Data',
    define: cycleGan('zeros'),
  }),
  row({ id: 36, name: 'pix2pix_photo_map', title: 'Pix2pix Photo-to-Street-Map Translation', define: pix2pix() }),
  row({ id: 37, name: 'pix2pix_map_photo', title: 'Pix2pix Street-Map-to-Photo Translation', define: pix2pix() }),
  row({
    id: 38,
    name: 'super_resolution',
    title: 'Very Deep Net for Super-Resolution',
    multiplyAccumulates: 43_222_377_600,
    define: superResolution(),
  }),
  row({
    id: 39,
    name: 'ssd_vgg_300',
    title: 'SSD-VGG-300 Trained on PASCAL VOC Data',
    define: ssd300(),
  }),
  row({
    id: 40,
    name: 'ssd_vgg_512',
    title: 'SSD-VGG-512 Trained on MS-COCO Data',
    define: ssd512(),
  }),
  row({
    id: 41,
    name: 'yolo_v2',
    title: 'YOLO V2 Trained on MS-COCO Data',
    multiplyAccumulates: 14_732_084_224,
    define: yoloV2(),
  }),
  row({
    id: 42,
    name: 'face_alignment_2d',
    title: '2D Face Alignment Net Trained on 300W Large Pose Data',
    multiplyAccumulates: 25_235_292_160,
    define: faceAlignment(),
  }),
  row({
    id: 43,
    name: 'face_alignment_3d',
    title: '3D Face Alignment Net Trained on 300W Large Pose Data',
    multiplyAccumulates: 25_235_292_160,
    define: faceAlignment(),
  }),
  row({
    id: 44,
    name: 'depth_wild',
    title: 'Single-Image Depth Perception Net Trained on Depth in the Wild Data',
    multiplyAccumulates: 47_127_552_000,
    define: depthPerception(),
  }),
  row({
    id: 45,
    name: 'depth_nyu_wild',
    title: 'Single-Image Depth Perception Net Trained on NYU Depth V2 and Depth in the Wild Data',
    multiplyAccumulates: 47_127_552_000,
    define: depthPerception(),
  }),
  row({
    id: 46,
    name: 'depth_nyu',
    title: 'Single-Image Depth Perception Net Trained on NYU Depth V2 Data',
    multiplyAccumulates: 47_127_552_000,
    define: depthPerception(),
  }),
  row({
    id: 47,
    name: 'volumetric_regression',
    title: 'Unguided Volumetric Regression Net for 3D Face Reconstruction',
    multiplyAccumulates: 24_467_668_992,
    define: volumetricRegression(),
  }),
  row({
    id: 48,
    name: 'ademxapp_a1_ade20k',
    title: 'Ademxapp Model A1 Trained on ADE20K Data',
    define: ademxappA1(150, { size: 504 }),
  }),
  row({
    id: 49,
    name: 'ademxapp_a1_voc',
    title: 'Ademxapp Model A1 Trained on PASCAL VOC2012 and MS-COCO Data',
    define: ademxappA1(21, { size: 504 }),
  }),
  row({
    id: 50,
    name: 'context_aggregation',
    title: 'Multi-scale Context Aggregation Net Trained on CamVid Data',
    define: contextAggregation(),
  }),
];
