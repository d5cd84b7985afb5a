#!/bin/sh
# Makes certificates and tokens for the compose file, once: secrets.sh FOLDER
#
# FOLDER/server, FOLDER/agent and FOLDER/client each get only the files that they need. FOLDER/authority keeps the key
# that signs certificates.
set -eu
umask 077
cd "$1"
mkdir -p authority server agent client
[ -f authority/done ] && exit 0

key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'

# shellcheck disable=SC2086
openssl req -x509 $key -days 3650 -subj /CN=mlmodelscope -keyout authority/ca-key.pem -out authority/ca.pem

# certificate FOLDER NAMES: makes a certificate for a server with these names, and for a client
certificate() {
  # shellcheck disable=SC2086
  openssl req $key -subj "/CN=$1" -keyout "$1/key.pem" -out authority/request.pem
  printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$2" > authority/extensions
  openssl x509 -req -in authority/request.pem -CA authority/ca.pem -CAkey authority/ca-key.pem -CAcreateserial \
    -days 825 -extfile authority/extensions -out "$1/certificate.pem"
  cp authority/ca.pem "$1/ca.pem"
}
certificate server DNS:server,DNS:localhost,IP:127.0.0.1
certificate agent DNS:agent-1,DNS:agent-2,DNS:localhost,IP:127.0.0.1
certificate client DNS:client

# token FOLDER ROLE: makes a token. Only its holder has the token; server and agents have its SHA-256.
token() {
  openssl rand -hex 32 > "$1/$2.token"
  hash=$(tr -d '\n' < "$1/$2.token" | sha256sum | cut -d ' ' -f 1)
  printf '  - { name: %s-%s, role: %s, sha256: %s }\n' "$1" "$2" "$2" "$hash" >> authority/access.yml
}
echo tokens: > authority/access.yml
token server plugin
token agent agent
token client submit
token client read
cp authority/access.yml server/access.yml
cp authority/access.yml agent/access.yml

# The image's user.
[ "$(id -u)" != 0 ] || chown -R 1000:1000 server agent client
touch authority/done
