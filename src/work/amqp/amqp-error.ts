import { codeOf, type ErrorCode, messageOf, PlatformError } from '../../base/errors.js';
import { ownValue } from '../../base/own-value.js';

interface Remedy {
  readonly code: ErrorCode;
  readonly withUser?: string;
  readonly text: string;
}

export interface NamedBroker {
  readonly address: string;
  readonly user: string;
}

/** By the reply codes of AMQP 0-9-1 (section 1.2) and of the operating system. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  ACCESS_REFUSED: {
    code: 'unauthenticated',
    withUser: 'it refuses',
    text:
      "check the name and the password in the queue's address (amqp://USER:PASSWORD@HOST), and the user's rights " +
      '(rabbitmqctl set_permissions USER "^(mlmodelscope|amq[.]gen).*" ".*" ".*")',
  },
  NOT_ALLOWED: {
    code: 'unauthenticated',
    withUser: 'it has no such virtual host, or does not let it be used by',
    text:
      "check the part after the host in the queue's " +
      'address, and the rights (rabbitmqctl set_permissions -p VHOST USER ".*" ".*" ".*")',
  },
  PRECONDITION_FAILED: {
    code: 'unsupported',
    text:
      'it has a queue of this name with other settings: when the queue is empty, delete it (rabbitmqctl delete_queue)' +
      '; it is then created again. RabbitMQ 3.10 or newer is needed',
  },
  ECONNREFUSED: { code: 'unavailable', text: 'no broker listens there: start it, or check the address and the port' },
  ENOTFOUND: { code: 'unavailable', text: 'there is no such host: check the address' },
  EAI_AGAIN: { code: 'unavailable', text: 'the name of the host cannot be looked up now: check the network' },
  CONNECTION_TIMEOUT: {
    code: 'unavailable',
    text: 'it does not answer: check that it runs and can be reached from here',
  },
};

/** Converts an error of the client into an error with advice. An error that may pass is `unavailable`. */
export function amqpError({ address, user }: NamedBroker, thrown: unknown): PlatformError {
  if (thrown instanceof PlatformError) return thrown;
  const remedy = ownValue(REMEDIES, codeOf(thrown));
  const said = messageOf(thrown);
  const options = { cause: thrown };
  if (remedy === undefined) {
    const advice = /certificate/.test(said)
      ? 'Its certificate has to be valid, name this host, and be from an authority that --tls-ca names.'
      : 'Check that it runs, that it can be reached from here, and whether it needs TLS (amqps://).';
    const message = `The broker ${address} cannot be used: ${said}. ${advice}`;
    return new PlatformError('unavailable', message, options);
  }
  const who = remedy.withUser === undefined ? '' : `${remedy.withUser} ${user}: `;
  return new PlatformError(
    remedy.code,
    `The broker ${address} cannot be used: ${who}${remedy.text} (${said}).`,
    options,
  );
}
