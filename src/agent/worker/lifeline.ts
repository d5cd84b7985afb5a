import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { LIFELINE_FILE_DESCRIPTOR } from '../jobs/job.js';
import { removeTemporaryFolders } from '../jobs/temporary-folder.js';

/** Ends the worker once the agent's end of a pipe closes, also by kill -9: measuring may block the main thread. */
export interface LifelineData {
  /** The thread removes this folder and its counterpart in memory before it ends the process. */
  readonly temporaryFolder: string;
}

const { temporaryFolder } = workerData as LifelineData;
const pipe = new Socket({ fd: LIFELINE_FILE_DESCRIPTOR, readable: true, writable: false });
pipe.once('close', () => {
  removeTemporaryFolders(temporaryFolder);
  process.kill(process.pid, 'SIGKILL');
});
pipe.on('error', () => pipe.destroy());
pipe.resume();
