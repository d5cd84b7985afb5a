# Sourced by scripts that start a server; they define `fail`.

# Prints the address that a server says in its log, once it does.
#
#   await_listening PATTERN LOG PROCESS SECONDS    a sed pattern of a line up to the address, its group
await_listening() {
  local address
  for _ in $(seq $((10 * $4))); do
    address=$(sed -n "s#$1.*#\\1#p" "$2")
    if [ -n "$address" ]; then
      echo "$address"
      return
    fi
    kill -0 "$3" 2> /dev/null || fail "the server does not start: $(tail -n 5 "$2")"
    sleep 0.1
  done
  fail "the server does not listen: $(tail -n 5 "$2")"
}
