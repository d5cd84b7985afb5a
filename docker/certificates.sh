#!/bin/sh
# Makes an authority and one certificate for server and agent, once; everybody in the compose file shows it to everybody.
set -eu
cd /tls
[ -f node.pem ] && exit 0
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj '/CN=mlmodelscope' \
  -keyout ca-key.pem -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=node' -keyout node-key.pem -out node.csr
printf 'subjectAltName=DNS:server,DNS:agent,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' > node.ext
openssl x509 -req -in node.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 825 -extfile node.ext -out node.tmp
rm node.csr node.ext
# The image's user.
chown -R 1000:1000 /tls
mv node.tmp node.pem
