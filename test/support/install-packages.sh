#!/usr/bin/env bash
# Installs the Debian packages that tests use, if they are missing and can be installed: RabbitMQ, of which tests start
# brokers of their own, faketime, which sets the clocks of processes, and Chromium, in which pages are opened.
# RabbitMQ's service is not started. If a package cannot be installed, its tests are skipped and say so.
set -uo pipefail

missing=()
[ -x "${RABBITMQ_SERVER:-/usr/lib/rabbitmq/bin/rabbitmq-server}" ] || missing+=(rabbitmq-server)
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' > /dev/null || missing+=(faketime)
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || missing+=(chromium)
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
  echo "install-packages.sh: needs root and apt-get; tests with ${missing[*]} are skipped" >&2
  exit 0
fi
# Debian's scripts start no service in run level 1.
export RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends "${missing[@]}" > /dev/null ||
  (apt-get update > /dev/null && apt-get install -y --no-install-recommends "${missing[@]}" > /dev/null) ||
  echo "install-packages.sh: ${missing[*]} cannot be installed; tests with them are skipped" >&2
