/**
 * Where the values of a tensor are in the file that was read. After {@link stripPayloads} a TensorProto holds this in
 * place of its values, encoded in `raw_data`.
 */
export interface Payload {
  /** The field of TensorProto that holds the values; it decides how they are encoded. */
  readonly field: number;
  readonly offset: number;
  readonly byteLength: number;
}

/** The fields of TensorProto that hold values, apart from string_data, whose values stay in place. */
export const PAYLOAD_FIELD = {
  floatData: 4,
  int32Data: 5,
  int64Data: 7,
  rawData: 9,
  doubleData: 10,
  uint64Data: 11,
} as const;

export const PAYLOAD_ENCODED_BYTES = 17;

export function encodePayload({ field, offset, byteLength }: Payload): Uint8Array {
  const view = new DataView(new ArrayBuffer(PAYLOAD_ENCODED_BYTES));
  view.setUint8(0, field);
  view.setFloat64(1, offset);
  view.setFloat64(9, byteLength);
  return new Uint8Array(view.buffer);
}

/** The payload of a stripped TensorProto's `raw_data`; undefined where the tensor has none. */
export function decodePayload(rawData: Uint8Array): Payload | undefined {
  if (rawData.length !== PAYLOAD_ENCODED_BYTES) return undefined;
  const view = new DataView(rawData.buffer, rawData.byteOffset, rawData.length);
  return { field: view.getUint8(0), offset: view.getFloat64(1), byteLength: view.getFloat64(9) };
}
