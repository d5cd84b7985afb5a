import { onnxRuntimeWebPredictor } from '../../../src/predictor/onnxruntime-web/predictor.js';
import { describePredictor } from '../contract.js';

describePredictor({ name: 'onnxruntime-web', predictor: onnxRuntimeWebPredictor(), optimizesFromFiles: false });
