// The one place that loads ONNX Runtime, so that its telemetry is off wherever it is loaded; a lint rule holds it.
import './no-telemetry.js';

export { InferenceSession, Tensor } from 'onnxruntime-node';
