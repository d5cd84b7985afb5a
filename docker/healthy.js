// Exits with 0 if the server or agent on a port of this machine reports that it serves: node healthy.js PORT FOLDER
//
// The standard gRPC health check, with the certificate and key in the folder. The image has no other client for this
// check that starts as fast, and each process beside an agent disturbs its measurements.
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';

const [port, folder] = process.argv.slice(2);
const read = (name) => readFileSync(`${folder}/${name}.pem`);
const tls = { ca: read('ca'), cert: read('certificate'), key: read('key') };

/** A message without fields, in wire format: not compressed, of length 0. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** HealthCheckResponse with the status SERVING, after its prefix of five bytes. */
const SERVING = Buffer.from([8, 1]);

const LIMIT_MS = 5000;

function end(problem) {
  if (problem !== undefined) console.error(problem);
  process.exit(problem === undefined ? 0 : 1);
}

setTimeout(() => end('no answer in time'), LIMIT_MS);
const session = connect(`https://127.0.0.1:${port}`, tls).on('error', (error) => end(error.message));
const call = session.request({
  ':method': 'POST',
  ':path': '/grpc.health.v1.Health/Check',
  'content-type': 'application/grpc',
  te: 'trailers',
});
let answer = Buffer.alloc(0);
call.on('error', (error) => end(error.message));
call.on('data', (bytes) => (answer = Buffer.concat([answer, bytes])));
call.on('end', () => end(answer.subarray(5).equals(SERVING) ? undefined : 'not serving'));
call.end(EMPTY_MESSAGE);
