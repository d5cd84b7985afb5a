import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTrace } from '../../src/foreign-traces/read-trace.js';
import { mutateBytes } from '../mutate/bytes.js';
import { mutateJsonLines } from '../mutate/lines.js';
import { mutateText } from '../mutate/text.js';
import { readOrRefused, type Target } from './target.js';

const FIXTURES = join(import.meta.dirname, '../../../test/foreign-traces/fixtures');

const CSV = `model,index,name,op,attributes,input_shapes,output_shapes,duration_us,runs
net,0,"a ""b"", c",Conv,"{""strides"":[2,2]}",1x3x8x8;4x3x3x3,1x4x4x4,120.5,50
net,1,,Relu,,1x4x4x4,1x4x4x4,10,50
net,,,,,,,140,50
`;

const LINES = `{"model":"net","index":0,"op":"Conv","attributes":{"strides":[2,2]},"input_shapes":[[1,3,8,8],[4,3,3,3]],"output_shapes":"1x4x4x4","duration_us":120.5,"runs":50}
{"model":"net","index":1,"op":"Relu","input_shapes":[[1,4,4,4]],"output_shapes":[[1,4,4,4]],"duration_ms":0.01}
{"model":"net","durations_us":[140]}
`;

/** Begin and end events, and layers in the platform's own tags. */
const CHROME = `{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"c_predict"}},
{"ph":"B","ts":1,"pid":1,"tid":1,"name":"conv","args":{"layer_sequence_index":"0-1","op_name":"Conv","shape":[1,2]}},{"ph":"E","ts":4,"pid":1,"tid":1},
{"ph":"X","ts":5,"dur":2,"pid":1,"tid":1,"name":"relu","args":{"layer_sequence_index":"1","op_name":"Relu"}}]}`;

/** Traces and layer tables in all formats. */
export const trace: Target = {
  name: 'trace',
  async seeds() {
    const names = ['jaeger.json', 'onnxruntime.json', 'otlp.json', 'python.json', 'pytorch.json'];
    const files = await Promise.all(names.map((name) => readFile(join(FIXTURES, name))));
    return [...files, ...[CSV, LINES, CHROME].map((text) => Buffer.from(text))];
  },
  mutate(input, random) {
    if (random.oneIn(10)) return mutateBytes(input, random);
    const text = Buffer.from(input).toString();
    return Buffer.from(random.oneIn(3) ? mutateText(text, random) : mutateJsonLines(text, random));
  },
  async check(input, folder) {
    const path = join(folder, 'trace');
    await writeFile(path, input);
    return readOrRefused(() => readTrace(path), path);
  },
};
