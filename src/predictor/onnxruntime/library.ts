// The one place that loads ONNX Runtime, so that its telemetry is always off; a lint rule enforces it.
import './no-telemetry.js';

export { InferenceSession, Tensor } from 'onnxruntime-node';
