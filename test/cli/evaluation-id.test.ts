import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluationId } from '../../src/cli/evaluation-id.js';
import type { EvaluationClient } from '../../src/evaluation/client/evaluation-client.js';
import { assertRefused } from '../rpc/support/refusal.js';

const IDS = ['3f2a0000-0000-4000-8000-000000000001', '3f2b0000-0000-4000-8000-000000000002'];

/** A server's evaluations, the newest first. */
const client = {
  list: (most: number) => Promise.resolve(IDS.slice(0, most).map((id) => ({ id }))),
} as unknown as EvaluationClient;

describe('an evaluation', () => {
  it('is named by its id, by its first digits, or as the latest', async () => {
    assert.equal(await evaluationId(client, '3f2b'), IDS[1]);
    assert.equal(await evaluationId(client, '3F2A'), IDS[0]);
    assert.equal(await evaluationId(client, 'latest'), IDS[0]);
    // It may be older than the evaluations that a server lists.
    const other = 'ffffffff-0000-4000-8000-000000000003';
    assert.equal(await evaluationId(client, other), other);
  });

  it('is not guessed', async () => {
    await assertRefused(evaluationId(client, '3f2'), 'not_found', /2 ids begin with 3f2; .*evaluations list/);
    await assertRefused(evaluationId(client, '4'), 'not_found', /no evaluation is called 4; /);
  });
});
