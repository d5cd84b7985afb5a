import { clock } from './clock.js';
import { child, command, group } from './command.js';
import { database } from './database.js';
import { network } from './network.js';
import { chosenAgent, poisonedQueue } from './queue.js';
import { server } from './server.js';
import type { Target } from './target.js';
import { writer } from './writer.js';

export const TARGETS: readonly Target[] = [
  command,
  group,
  child,
  writer,
  server,
  database,
  clock,
  network,
  poisonedQueue,
  chosenAgent,
];
