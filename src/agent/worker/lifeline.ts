import { Socket } from 'node:net';
import { workerData } from 'node:worker_threads';
import { LIFELINE_FILE_DESCRIPTOR } from '../jobs/job.js';
import { removeTemporaryFolders } from '../jobs/temporary-folder.js';

/**
 * A thread that ends the worker process when its agent ends. The other end of a pipe is open as long as the agent runs;
 * the kernel closes it however the agent ends, kill -9 included. Measuring blocks the process's main thread, possibly
 * for long or for ever, so this thread waits, without ever waking up in between, and ends the process.
 */
export interface LifelineData {
  /** The folder and the files beside it are removed before the process ends. */
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
