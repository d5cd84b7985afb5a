import { AttributeProto, AttributeProto_AttributeType as AttributeType } from '../../generated/onnx/onnx.js';

export function int(name: string, value: number): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.INT, i: BigInt(value) });
}

export function ints(name: string, values: readonly number[]): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.INTS, ints: values.map(BigInt) });
}

/**
 * A float attribute, rounded to the 32 bits that a file keeps, so that a generated model and the same model read from
 * its file are equal.
 */
export function float(name: string, value: number): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.FLOAT, f: Math.fround(value) });
}

export function string(name: string, value: string): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.STRING, s: new TextEncoder().encode(value) });
}

/** An attribute that is a list of floats, rounded as {@link float} does. */
export function floats(name: string, values: readonly number[]): AttributeProto {
  return AttributeProto.create({ name, type: AttributeType.FLOATS, floats: values.map(Math.fround) });
}
