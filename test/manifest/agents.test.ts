import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentsField, isOneAgent, mostAgents, ONE_AGENT, placementField } from '../../src/manifest/agents.js';

test('agents are one, all, or as many as a server has at most', () => {
  for (const [agents, most] of [
    ['one', 1],
    ['all', Infinity],
    [1, 1],
    [1000, 1000],
  ] as const) {
    assert.equal(mostAgents(agentsField.parse(agents)), most);
  }
  for (const agents of [0, -1, 1001, 1.5, 'two', '3', null]) {
    const issues = agentsField.safeParse(agents).error?.issues ?? [];
    const [{ message } = assert.fail(`${agents} is taken`)] = issues;
    assert.equal(message, 'one, all or a whole number from 1 to 1000');
  }
});

test('one agent will do where one is asked for, on one system', () => {
  assert.equal(isOneAgent(ONE_AGENT), true);
  assert.equal(isOneAgent({ most: 1, placement: 'each' }), false);
  assert.equal(isOneAgent({ most: 2, placement: 'spread' }), false);
});

test('a placement is one of two', () => {
  assert.equal(placementField.parse('each'), 'each');
  assert.equal(placementField.safeParse('all').error?.issues[0]?.message, 'spread or each');
});
