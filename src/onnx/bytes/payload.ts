/** Where a tensor's values are in the file. After {@link stripPayloads}, a TensorProto's `raw_data` holds this. */
export interface Payload {
  /** Number of the TensorProto's field that holds the values; it decides how they are encoded. */
  readonly field: number;
  readonly offset: number;
  readonly byteLength: number;
}

export const PAYLOAD_ENCODED_BYTES = 17;

export function encodePayload({ field, offset, byteLength }: Payload): Uint8Array {
  const view = new DataView(new ArrayBuffer(PAYLOAD_ENCODED_BYTES));
  view.setUint8(0, field);
  view.setFloat64(1, offset);
  view.setFloat64(9, byteLength);
  return new Uint8Array(view.buffer);
}

export function decodePayload(rawData: Uint8Array): Payload | undefined {
  if (rawData.length !== PAYLOAD_ENCODED_BYTES) return undefined;
  const view = new DataView(rawData.buffer, rawData.byteOffset, rawData.length);
  return { field: view.getUint8(0), offset: view.getFloat64(1), byteLength: view.getFloat64(9) };
}
