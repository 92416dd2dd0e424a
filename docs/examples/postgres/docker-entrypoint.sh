#!/bin/sh
# The entrypoint of the image of PostgreSQL: initializes an empty data folder, and becomes the server, or any other program.
#
# The variables are those of the image `postgres` (https://hub.docker.com/_/postgres): POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB,
# POSTGRES_INITDB_ARGS, each of them also with the suffix _FILE, and POSTGRES_HOST_AUTH_METHOD, PGDATA.
set -eu

case ${1-} in
'' | -*) set -- postgres "$@" ;;
esac
[ "$1" = postgres ] || exec "$@"

# PostgreSQL refuses to run as root. A volume belongs to root at first.
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chmod 0700 "$PGDATA"
  find "$PGDATA" ! -user postgres -exec chown postgres:postgres {} +
  # In the image of an unprivileged developer, everybody may write this folder.
  chown postgres:postgres /run/postgresql 2>/dev/null || true
  exec setpriv --reuid=999 --regid=999 --init-groups -- "$0" "$@"
fi

# Prints the value of a variable, or the content of the file that the variable with the suffix _FILE names.
value_of() {
  file=$(printenv "$1_FILE" || true)
  if [ -n "$file" ]; then cat "$file"; else printenv "$1" || true; fi
}

# Runs the scripts that a developer has mounted.
run_scripts() {
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
    *.sh) if [ -x "$file" ]; then "$file"; else . "$file"; fi ;;
    *.sql) sql --file="$file" ;;
    *.sql.gz) gunzip --stdout "$file" | sql ;;
    esac
  done
}

sql() {
  psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" "$@"
}

initialize() {
  password=$(value_of POSTGRES_PASSWORD)
  method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  POSTGRES_USER=$(value_of POSTGRES_USER)
  export POSTGRES_USER="${POSTGRES_USER:-postgres}"
  POSTGRES_DB=$(value_of POSTGRES_DB)
  export POSTGRES_DB="${POSTGRES_DB:-$POSTGRES_USER}"
  if [ -z "$password" ] && [ "$method" != trust ]; then
    echo 'The database has no data and no password: set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust.' >&2
    exit 1
  fi
  passwords=$(mktemp)
  printf '%s\n' "$password" >"$passwords"
  # shellcheck disable=SC2046 # one word for each argument
  initdb --username="$POSTGRES_USER" ${password:+"--pwfile=$passwords"} $(value_of POSTGRES_INITDB_ARGS)
  rm "$passwords"
  printf '\nhost all all all %s\n' "$method" >>"$PGDATA/pg_hba.conf"
  printf "\nlisten_addresses = '*'\n" >>"$PGDATA/postgresql.conf"

  # Only programs of this container can reach this server. Others wait for the next one.
  "$@" -c listen_addresses= &
  server=$!
  until pg_isready --quiet --username="$POSTGRES_USER"; do
    kill -0 "$server" 2>/dev/null || exit 1
    sleep 0.1
  done
  [ "$POSTGRES_DB" = postgres ] || createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  run_scripts
  pg_ctl --wait --mode=fast stop
  wait "$server"
}

mkdir -p "$PGDATA"
[ -s "$PGDATA/PG_VERSION" ] || initialize "$@"
exec "$@"
