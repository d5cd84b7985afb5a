import { type ModelProto, TensorProto_DataLocation } from '../../generated/onnx/onnx.js';

interface MessagePart {
  readonly value: object;
  readonly place: string | number;
  readonly around: MessagePart | undefined;
}

function isExternal(value: object): boolean {
  return 'dataLocation' in value && value.dataLocation !== TensorProto_DataLocation.DEFAULT;
}

/** Whether a value has only numbers, texts or bytes. Lists hold values of one kind. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return true;
  return Array.isArray(value) && isPlain(value[0]);
}

function placeOf(part: MessagePart): string {
  const places: (string | number)[] = [];
  for (let at: MessagePart | undefined = part; at?.around !== undefined; at = at.around) places.push(at.place);
  return places.reverse().join('.');
}

/**
 * The place of a tensor whose values are in another file. The whole message is searched, so that no place is
 * forgotten.
 */
export function externalTensorIn(model: ModelProto): string | undefined {
  const pending: MessagePart[] = [{ value: model, place: '', around: undefined }];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (isExternal(part.value)) return placeOf(part);
    for (const [place, value] of Object.entries(part.value) as [string, unknown][]) {
      if (!isPlain(value)) pending.push({ value: value as object, place, around: part });
    }
  }
  return undefined;
}
