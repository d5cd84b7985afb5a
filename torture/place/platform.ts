import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { collect } from '../../src/base/collect.js';
import { PlatformError } from '../../src/base/errors.js';
import type { EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import type { LoggedEvent } from '../../src/evaluation/event.js';
import type { Submission } from '../../src/evaluation/submission.js';
import type { Running, StartOptions, Workplace } from '../../test/cli/support/command.js';
import { chain, MANY_BRICKS, MANY_OPERATORS } from '../../test/cli/support/tiny-models.js';
import type { Round } from './round.js';

const MANIFEST = 'evaluation.yml';

/** Writes an evaluation of a model of twenty operators. @returns its path */
export async function manifestIn({ place, random }: Round): Promise<string> {
  await place.write('many.onnx', chain(MANY_OPERATORS));
  const settings = { cut: random.pick(['kernel', 'layer']) };
  const manifest = { ...MANY_BRICKS, name: 'tortured', settings };
  return place.write(MANIFEST, JSON.stringify(manifest));
}

/** The same evaluation, as a submission. */
export async function submissionIn(round: Round): Promise<Submission> {
  await manifestIn(round);
  const names = [MANIFEST, 'many.onnx'];
  const files = await Promise.all(names.map(async (name) => [name, await readFile(round.place.path(name))] as const));
  return { manifestPath: MANIFEST, files: new Map(files), graphs: new Map() };
}

/** Starts a server with the plugin beside it. @returns the server, and its address */
export async function startServer(
  place: Workplace,
  listen: string,
  options: StartOptions & { readonly flags?: readonly string[] } = {},
): Promise<{ readonly server: Running; readonly address: string }> {
  const { flags = ['--plugins', 'dlbricks'], ...start } = options;
  const server = place.start(['serve', '--listen', listen, ...flags], start);
  const [, address = ''] = await server.said(/server listening on (\S+)/);
  return { server, address };
}

/** Submits until the server confirms the submission. The contract allows repeating it under one id. */
export async function submitAtLast(client: EvaluationClient, id: string, submission: Submission): Promise<void> {
  for (;;) {
    try {
      await client.submit(id, submission);
      return;
    } catch (thrown) {
      if (!(thrown instanceof PlatformError) || thrown.code !== 'unavailable') throw thrown;
      await setTimeout(100);
    }
  }
}

/** All events that a follower receives, to the end. */
export function followed(client: EvaluationClient, id: string): Promise<readonly LoggedEvent[]> {
  return collect(client.follow(id, 0));
}
