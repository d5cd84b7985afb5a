import { onnxRuntimePredictor } from '../../../src/predictor/onnxruntime/predictor.js';
import { describePredictor } from '../contract.js';

describePredictor({ name: 'onnxruntime', predictor: onnxRuntimePredictor(), optimizesFromFiles: true });
