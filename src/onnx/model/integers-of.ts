import type { Tensor } from './model.js';

export function readIntegers(tensor: Tensor | undefined): readonly number[] | undefined {
  if (tensor?.data.kind !== 'inline') return undefined;
  const { bytes } = tensor.data;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (tensor.elementType) {
    case 'int64':
      return Array.from({ length: bytes.length / 8 }, (_, at) => Number(view.getBigInt64(at * 8, true)));
    case 'int32':
      return Array.from({ length: bytes.length / 4 }, (_, at) => view.getInt32(at * 4, true));
    default:
      return undefined;
  }
}
