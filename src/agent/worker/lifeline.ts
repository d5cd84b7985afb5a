import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { LIFELINE_FILE_DESCRIPTOR } from '../jobs/job.js';
import { removeTemporaryFolders } from '../jobs/temporary-folder.js';

/**
 * A thread that ends the worker process when its agent ends. The agent holds the other end of a pipe. The kernel closes
 * that end however the agent ends, including kill -9. Measuring may block the main thread of the process for a long
 * time or forever. So this thread waits until the pipe closes, without waking up before, and then ends the process.
 */
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
