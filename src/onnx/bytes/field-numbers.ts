/**
 * Fields that are read and written without generated code, and what {@link stripPayloads} does with them; a test compares
 * them with proto/onnx/onnx.proto. Values and lists of integers are copied, a payload is replaced by its place in the
 * file, a message is visited. Fields that are not here, documentation among them, are dropped.
 */
const MESSAGES = {
  ModelProto: {
    irVersion: 1,
    producerName: [2, 'dropped'],
    producerVersion: [3, 'dropped'],
    domain: [4, 'dropped'],
    modelVersion: [5, 'dropped'],
    docString: [6, 'dropped'],
    graph: [7, 'GraphProto'],
    opsetImport: [8, 'OperatorSetIdProto'],
    metadataProps: [14, 'dropped'],
    functions: [25, 'FunctionProto'],
  },
  OperatorSetIdProto: { domain: 1, version: 2 },
  GraphProto: {
    node: [1, 'NodeProto'],
    name: 2,
    initializer: [5, 'TensorProto'],
    input: [11, 'ValueInfoProto'],
    output: [12, 'ValueInfoProto'],
    valueInfo: [13, 'ValueInfoProto'],
    sparseInitializer: [15, 'SparseTensorProto'],
  },
  NodeProto: { input: 1, output: 2, name: 3, opType: 4, attribute: [5, 'AttributeProto'], domain: 7, overload: 8 },
  AttributeProto: {
    name: 1,
    f: 2,
    i: 3,
    s: 4,
    t: [5, 'TensorProto'],
    g: [6, 'GraphProto'],
    floats: 7,
    ints: [8, 'integers'],
    strings: 9,
    tensors: [10, 'TensorProto'],
    graphs: [11, 'GraphProto'],
    tp: [14, 'TypeProto'],
    typeProtos: [15, 'TypeProto'],
    type: 20,
    refAttrName: 21,
    sparseTensor: [22, 'SparseTensorProto'],
    sparseTensors: [23, 'SparseTensorProto'],
  },
  TensorProto: {
    dims: [1, 'integers'],
    dataType: 2,
    floatData: [4, 'payload'],
    int32Data: [5, 'payload'],
    stringData: 6,
    int64Data: [7, 'payload'],
    name: 8,
    rawData: [9, 'payload'],
    doubleData: [10, 'payload'],
    uint64Data: [11, 'payload'],
    externalData: [13, 'StringStringEntryProto'],
    dataLocation: 14,
  },
  StringStringEntryProto: { key: 1, value: 2 },
  SparseTensorProto: { values: [1, 'TensorProto'], indices: [2, 'TensorProto'] },
  ValueInfoProto: { name: 1, type: [2, 'TypeProto'] },
  TypeProto: {
    tensorType: [1, 'TypeProto.Tensor'],
    sequenceType: [4, 'TypeProto.Sequence'],
    mapType: [5, 'TypeProto.Map'],
    sparseTensorType: [8, 'TypeProto.SparseTensor'],
    optionalType: [9, 'TypeProto.Optional'],
  },
  'TypeProto.Tensor': { elemType: 1, shape: [2, 'TensorShapeProto'] },
  'TypeProto.Sequence': { elemType: [1, 'TypeProto'] },
  'TypeProto.Map': { keyType: 1, valueType: [2, 'TypeProto'] },
  'TypeProto.Optional': { elemType: [1, 'TypeProto'] },
  'TypeProto.SparseTensor': { elemType: 1, shape: [2, 'TensorShapeProto'] },
  TensorShapeProto: { dim: [1, 'TensorShapeProto.Dimension'] },
  'TensorShapeProto.Dimension': { dimValue: 1, dimParam: 2 },
  FunctionProto: {
    name: 1,
    input: 4,
    output: 5,
    attribute: 6,
    node: [7, 'NodeProto'],
    opsetImport: [9, 'OperatorSetIdProto'],
    domain: 10,
    attributeProto: [11, 'AttributeProto'],
    overload: 13,
  },
} as const;

export type MessageName = keyof typeof MESSAGES;

export type Rule = 'value' | 'integers' | 'payload' | 'dropped' | MessageName;

/** By message and field; of a field that is a value, only the number. */
export const RULES: Readonly<Record<MessageName, Readonly<Record<string, number | readonly [number, Rule]>>>> =
  MESSAGES;

/** The numbers of the fields. */
export const FIELDS = Object.fromEntries(
  Object.entries(RULES).map(([name, fields]) => [
    name,
    Object.fromEntries(
      Object.entries(fields).map(([field, rule]) => [field, typeof rule === 'number' ? rule : rule[0]]),
    ),
  ]),
) as { readonly [Name in MessageName]: { readonly [Field in keyof (typeof MESSAGES)[Name]]: number } };
