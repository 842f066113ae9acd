#!/bin/sh
# Runs one throw-away Postgres until standard input closes or Postgres ends, then removes its data directory.
# Standard input is the lifeline: it closes however the process that started this one ends, SIGKILL included.
#
# ROOT      directory to change root to; / for the system's own Postgres
# BINARIES  directory of initdb and postgres, seen from ROOT
# PORT      loopback port
# PASSWORD  of the superuser postgres
# PRIVATE   1 where mounts made here vanish with this process (own mount and process namespace)
set -eu

if [ "$PRIVATE" = 1 ] && [ "$ROOT" != / ]; then
  mount --rbind /dev "$ROOT/dev"
  mount -t proc proc "$ROOT/proc"
fi

# Postgres refuses to run as root
as_postgres() {
  if [ "$(id -u)" = 0 ]; then
    exec chroot --userspec=postgres:postgres "$ROOT" "$@"
  fi
  exec "$@"
}

base=$(as_postgres mktemp -d /tmp/agent-learning-postgres.XXXXXX)
cleanup() { rm -rf "${ROOT%/}$base"; }
trap cleanup EXIT

export LC_ALL=C.UTF-8
cd /
printf '%s' "$PASSWORD" | (as_postgres tee "$base/password") >/dev/null
(as_postgres "$BINARIES/initdb" --pgdata="$base/data" --username=postgres --pwfile="$base/password" --auth=password \
  --encoding=UTF8 --locale=C.UTF-8 --no-sync --no-instructions) >/dev/null

exec 3<&0
(as_postgres "$BINARIES/postgres" -D "$base/data" -p "$PORT" \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 \
  -c shared_preload_libraries=timescaledb -c timescaledb.telemetry_level=off -c max_worker_processes=40 \
  -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_wal_size=2GB -c log_statement=none) </dev/null &
postgres=$!
(cat <&3 >/dev/null; kill -INT "$postgres" 2>/dev/null) &
lifeline=$!
trap '' INT TERM HUP

status=0
wait "$postgres" || status=$?
kill "$lifeline" 2>/dev/null || true
exit "$status"
