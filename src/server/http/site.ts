import type { Context, Hono } from 'hono';
import { PlatformError } from '../../base/errors.js';
import { Markup } from '../../base/markup.js';
import { oneOf } from '../../base/one-of.js';
import { quoted } from '../../base/quoted.js';
import { RecentlyUsed } from '../../base/recently-used.js';
import { isFinal, type LoggedEvent } from '../../evaluation/event.js';
import { EVALUATION_STATES } from '../../evaluation/records.js';
import { estimateHistory } from '../../measuring/estimates.js';
import { ZOO } from '../../zoo/zoo.js';
import { agentsPage, loginPage, predictPage, submitPage } from '../../web/site/action-pages.js';
import { brickPage } from '../../web/site/brick-page.js';
import { type ComparedEvaluation, comparisonPage } from '../../web/site/comparison-page.js';
import { historyPage, matrixPage, modelPage, systemPage, systemsPage } from '../../web/site/estimate-pages.js';
import { evaluationPage, evaluationsPage, runningSection } from '../../web/site/evaluation-pages.js';
import { ASSETS, type SiteContent, sitePage } from '../../web/site/layout.js';
import type { Access } from './access.js';
import { CANCEL, PREDICT, READ, readResult, requireTrust, SUBMIT } from './api.js';
import { requireKnownKeys } from './known-keys.js';
import { selected, type SharedEstimates, type WebSources } from './site-data.js';

export type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 503 | 504;

const MAX_COMPARED = 20;

/** Characters of shown results that are kept for later visitors. */
const MAX_KEPT = 32 * 2 ** 20;

const MAX_TOKEN = 1024;

/** Wrong tokens that are answered at the same time; each takes {@link WRONG_TOKEN_MS}. */
const MAX_WRONG = 8;
const WRONG_TOKEN_MS = 1000;

export class Site {
  readonly #shown = new RecentlyUsed<string>(MAX_KEPT);
  #wrongTokens = 0;

  constructor(
    private readonly sources: WebSources,
    private readonly estimates: SharedEstimates,
    private readonly access: Access,
  ) {}

  /** Adds the pages. None of them changes anything but the visitor's own session. */
  addTo(app: Hono): void {
    this.#page(app, '/?q&system&plugin&batch', READ, (c) => this.#matrix(c));
    this.#page(app, '/model?name', READ, async (c) => {
      const model = c.req.query('name') ?? '';
      const view = selected(await this.estimates.get(), { model });
      if (view.estimates.length === 0) throw new PlatformError('not_found', 'the store has no estimate of this model');
      return modelPage(model, view);
    });
    this.#page(app, '/systems', READ, async () => systemsPage(await this.estimates.get()));
    this.#page(app, '/systems/:system', READ, (c) => this.#system(c));
    this.#page(app, '/estimates/:subject', READ, async (c) => {
      const history = await estimateHistory(this.sources.store, c.req.param('subject') ?? '');
      if (history.length === 0) throw new PlatformError('not_found', 'the store has no such estimate');
      return historyPage(history, (await this.estimates.get()).systems);
    });
    this.#page(app, '/bricks/:signature', READ, async (c) => {
      requireTrust(this.access.isTrusted(c));
      const signature = c.req.param('signature') ?? '';
      const measurements = await this.sources.store.measurementsOf(signature);
      if (measurements.length === 0) throw new PlatformError('not_found', 'the store has no measurement of this brick');
      return brickPage(signature, measurements);
    });
    this.#page(app, '/compare?of&evaluation', READ, (c) => this.#comparison(c));
    this.#page(app, '/evaluations?state', READ, async (c) => {
      const asked = c.req.query('state') ?? '';
      const state = EVALUATION_STATES.find((each) => each === asked);
      if (asked !== '' && state === undefined) {
        throw new PlatformError('usage', `unknown state ${quoted(asked)}; expected ${oneOf(EVALUATION_STATES)}`);
      }
      const records = await this.sources.platform.list();
      return evaluationsPage(state === undefined ? records : records.filter((one) => one.state === state), state ?? '');
    });
    this.#page(app, '/evaluations/:id', READ, (c) => this.#evaluation(c));
    this.#page(app, '/agents', READ, () => {
      return agentsPage(this.sources.agents.list(), this.sources.platform.working());
    });
    this.#page(app, '/submit?plugin', SUBMIT, (c) => {
      const plugins = this.sources.platform.plugins().map(({ name, version, manifestSchemaJson }) => {
        return { name, version, schema: JSON.parse(manifestSchemaJson) as unknown };
      });
      const different = [...new Map(plugins.map((plugin) => [plugin.name, plugin])).values()];
      return submitPage(
        different,
        c.req.query('plugin') ?? '',
        ZOO.map(({ name }) => name),
      );
    });
    this.#page(app, '/predict', PREDICT, () => predictPage(this.sources.agents.list()));
    for (const { path, type, text } of ASSETS) {
      app.get(path, (c) =>
        c.body(text, 200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }),
      );
    }
    app.get('/login', (c) => {
      requireKnownKeys(c, ['to']);
      return this.show(c, loginPage(undefined, findTarget(c)));
    });
    app.post('/login', (c) => this.#logIn(c));
    app.post('/logout', (c) => {
      this.access.logOut(c);
      return c.redirect('/login', 303);
    });
  }

  show(c: Context, content: SiteContent, status: 200 | Status = 200) {
    const visitor = { name: this.access.holderOf(c), canLogIn: this.access.hasTokens };
    return c.html(sitePage(content, c.req.path, visitor), status);
  }

  /** @param address path, and the keys that the page reads of its query */
  #page(app: Hono, address: string, call: string, make: (c: Context) => SiteContent | Promise<SiteContent>): void {
    const [path = '', keys] = address.split('?');
    app.get(path, async (c) => {
      this.access.require(c, call);
      requireKnownKeys(c, keys?.split('&') ?? []);
      return this.show(c, await make(c));
    });
  }

  async #matrix(c: Context): Promise<SiteContent> {
    const all = await this.estimates.get();
    const records = await this.sources.platform.list();
    const { q = '', system = '', plugin = '', batch = '' } = c.req.query();
    const filter = { q, system, plugin, batch };
    return matrixPage(selected(all, filter), all, filter, runningSection(records));
  }

  async #system(c: Context): Promise<SiteContent> {
    const view = await this.estimates.get();
    const asked = c.req.param('system') ?? '';
    const found = view.systems.get(asked);
    // A measurement's system may have no estimate.
    const system = found ?? (await this.sources.store.listSystems()).find(({ fingerprint }) => fingerprint === asked);
    if (system === undefined) throw new PlatformError('not_found', 'the store has no such system');
    return systemPage(system, selected(view, { system: asked }));
  }

  async #comparison(c: Context): Promise<SiteContent> {
    const view = await this.estimates.get();
    const bySubject = new Map(view.estimates.map((one) => [one.subject, one]));
    const subjects = c.req.queries('of') ?? [];
    const ids = c.req.queries('evaluation') ?? [];
    if (subjects.length + ids.length > MAX_COMPARED) {
      throw new PlatformError('usage', `choose at most ${MAX_COMPARED} to compare`);
    }
    const chosen = [...new Set(subjects)].map((subject) => {
      const estimate = bySubject.get(subject);
      if (estimate === undefined) throw new PlatformError('not_found', 'the store has no such estimate');
      return estimate;
    });
    const evaluations: ComparedEvaluation[] = [];
    for (const id of new Set(ids)) {
      const { record } = await this.sources.platform.get(id, c.req.raw.signal);
      const events = await this.#readEvents(id, c.req.raw.signal);
      const estimates = events.flatMap(({ event }) => (event.kind === 'estimate' ? [event] : []));
      evaluations.push({ id, name: `${record.name} ${id.slice(0, 8)}`, estimates });
    }
    const models = new Set(chosen.map(({ model }) => model));
    return comparisonPage(chosen, evaluations, {
      ...view,
      estimates: view.estimates.filter(({ model }) => models.has(model)),
    });
  }

  async #evaluation(c: Context): Promise<SiteContent> {
    const id = c.req.param('id') ?? '';
    const { signal } = c.req.raw;
    const { record } = await this.sources.platform.get(id, signal);
    const events = await this.#readEvents(id, signal);
    const last = events.at(-1);
    let result: Markup | undefined;
    let notShown: string | undefined;
    if (last?.event.kind === 'done' && this.access.isTrusted(c)) {
      try {
        result = await this.#result(record.plugin, id, last, signal);
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        notShown = error.message;
      }
    } else if (last?.event.kind === 'done') {
      notShown = 'The result is shown to visitors who have logged in with a token.';
    }
    return evaluationPage({ record, events, mayCancel: this.access.isAllowed(c, CANCEL), result, notShown });
  }

  async #readEvents(id: string, signal: AbortSignal): Promise<readonly LoggedEvent[]> {
    const { last } = await this.sources.platform.get(id, signal);
    const events: LoggedEvent[] = [];
    if (last === undefined) return events;
    for await (const logged of this.sources.platform.follow(id, 0, signal)) {
      events.push(logged);
      if (isFinal(logged.event) || logged.sequence >= last.sequence) break;
    }
    return last.event.kind === 'measuring' && events.at(-1)?.event.kind !== 'measuring' ? [...events, last] : events;
  }

  async #result(plugin: string, id: string, last: LoggedEvent, signal: AbortSignal): Promise<Markup | undefined> {
    const key = `${id} ${last.at}`;
    const kept = this.#shown.get(key);
    if (kept !== undefined) return Markup.trusted(kept);
    const json = await readResult(this.sources.platform, id, last, signal);
    const shown = await this.sources.showResult(plugin, json);
    if (shown === undefined) return undefined;
    this.#shown.keep(key, shown, shown.length);
    return Markup.trusted(shown);
  }

  async #logIn(c: Context): Promise<Response> {
    const target = findTarget(c);
    const { token } = await c.req.parseBody();
    if (typeof token === 'string' && token.length <= MAX_TOKEN && this.access.logIn(c, token.trim())) {
      return c.redirect(target, 303);
    }
    if (this.#wrongTokens >= MAX_WRONG) {
      return this.show(c, loginPage('Too many wrong tokens at the same time; try again in a moment.', target), 429);
    }
    this.#wrongTokens++;
    await new Promise((resolve) => setTimeout(resolve, WRONG_TOKEN_MS));
    this.#wrongTokens--;
    return this.show(c, loginPage('The server does not accept this token.', target), 401);
  }
}

/** Where a visitor goes after the login: a path of this site. */
function findTarget(c: Context): string {
  const to = c.req.query('to') ?? '/';
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : '/';
}
