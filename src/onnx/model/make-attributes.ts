import { AttributeProto, AttributeProto_AttributeType as AttributeType } from '../../generated/onnx/onnx.js';

export function int(name: string, value: number): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.INT, i: BigInt(value) });
}

export function ints(name: string, values: readonly number[]): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.INTS, ints: values.map(BigInt) });
}

/** Rounded to the 32 bits that a file keeps, so that a generated model equals the one read from its file. */
export function float(name: string, value: number): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.FLOAT, f: Math.fround(value) });
}

export function string(name: string, value: string): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.STRING, s: new TextEncoder().encode(value) });
}
