#!/usr/bin/env bash
# Installs RabbitMQ from Debian's package where that is possible and was not done, for tests that start brokers of their own.
# Its service is not started. Where it cannot be installed, the tests are skipped and say so.
set -uo pipefail

[ -x "${RABBITMQ_SERVER:-/usr/lib/rabbitmq/bin/rabbitmq-server}" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo 'install-rabbitmq.sh: needs root and apt-get; tests with a broker are skipped' >&2
  exit 0
fi
# Debian's scripts start no service in run level 1.
export RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends rabbitmq-server > /dev/null ||
  (apt-get update > /dev/null && apt-get install -y --no-install-recommends rabbitmq-server > /dev/null) ||
  echo 'install-rabbitmq.sh: rabbitmq-server cannot be installed; tests with a broker are skipped' >&2
