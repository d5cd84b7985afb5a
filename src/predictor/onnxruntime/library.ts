// Only this file loads ONNX Runtime, so that its telemetry is always off; a lint rule enforces this.
import './no-telemetry.js';

export { InferenceSession, Tensor } from 'onnxruntime-node';
