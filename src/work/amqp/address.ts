import { PlatformError } from '../../base/errors.js';
import { quoted } from '../../base/quoted.js';

const EXAMPLE = 'amqp://USER:PASSWORD@HOST/VHOST, or amqps:// for TLS';

/** Without user and password, for display. @throws PlatformError `usage`, without the URI: it may hold a password */
export function brokerAddress(uri: string): string {
  let url: URL;
  try {
    url = new URL(uri);
  } catch {
    throw new PlatformError('usage', `the queue's address is no URI; write it as ${EXAMPLE}`);
  }
  if ((url.protocol !== 'amqp:' && url.protocol !== 'amqps:') || url.hostname === '') {
    throw new PlatformError(
      'usage',
      `a queue's address begins with amqp:// or amqps:// and a host; write it as ${EXAMPLE}`,
    );
  }
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.protocol}//${url.host}${path}`;
}

export function parseBrokerUser(uri: string): string {
  const { username } = new URL(uri);
  if (username !== '') return `the user ${quoted(username)}`;
  return 'the user guest (the address names none, and RabbitMQ accepts guest from its own machine only)';
}
