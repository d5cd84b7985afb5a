/**
 * Turns ONNX Runtime's telemetry off in this process. It has to be loaded before the runtime opens its first model.
 * Otherwise the runtime reads the machine's id, keeps a database of events in the user's cache folder, and sends the
 * events to Microsoft. Any other value of the variable is replaced by 1, so that no data of this project's users leaves
 * the machine.
 *
 * Source: ONNX Runtime 1.30, onnxruntime/core/platform/posix/telemetry.cc.
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';
