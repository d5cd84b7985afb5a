import { PlatformError } from '../base/errors.js';

const MOST = 1000;
const MAX_PER_CLIENT = 32;

export class Followers {
  readonly #byClient = new Map<string, number>();
  #count = 0;

  /** @throws PlatformError `exhausted` if there are too many */
  add(client: string): () => void {
    const ofClient = this.#byClient.get(client) ?? 0;
    if (ofClient >= MAX_PER_CLIENT) {
      throw new PlatformError('exhausted', `this connection follows ${ofClient} evaluations already; end one first`);
    }
    if (this.#count >= MOST) {
      throw new PlatformError('exhausted', `${MOST} calls follow evaluations of this server already; try again later`);
    }
    this.#byClient.set(client, ofClient + 1);
    this.#count++;
    return () => this.#remove(client);
  }

  #remove(client: string): void {
    const left = (this.#byClient.get(client) ?? 0) - 1;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
    this.#count--;
  }
}
