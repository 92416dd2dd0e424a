#!/bin/sh
# Makes the folder that `proreus dev --pods=process` uses as the image of PostgreSQL, and its configuration FOLDER.json:
#
#   sh make-image.sh FOLDER [machine|packages]
#   proreus dev --pods=process --pods-image postgres:15=FOLDER
#
# machine:  copies the programs of this machine.
# packages: downloads the packages of Debian or Ubuntu that this machine lacks, and unpacks them into the folder. Nothing is installed.
# Default:  machine; packages if this machine has no PostgreSQL.
#
# It needs no root. The folder must not exist, and is removed after an error. Packages in other folders can be made into an image in the
# same way: unpack them, add a shell and the shared libraries of all programs, and write the configuration.
set -eu
umask 022

[ $# -ge 1 ] || { echo "usage: $0 FOLDER [machine|packages]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$1")"
mkdir "$1"
image=$(cd "$1" && pwd)
source=${2:-}
work=$(mktemp -d)
finish() {
  code=$?
  rm -rf "$work"
  [ "$code" -eq 0 ] || rm -rf "$image" "$image.json"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

fail() {
  echo "The image of PostgreSQL cannot be made: $*" >&2
  exit 1
}

# The programs of PostgreSQL, which may be in a folder with others, as patterns.
server_programs='pg* postgres postmaster initdb psql createdb createuser dropdb dropuser clusterdb reindexdb vacuumdb'

# The programs that the entrypoint and the scripts of developers use besides those of PostgreSQL.
programs='awk base64 basename bash cat chmod chown cp cut date dirname du env expr find getent grep gunzip gzip head hostname id install kill
  ln ls mkdir mktemp mv nproc printenv ps pwd readlink realpath rm rmdir sed seq setpriv sh sha256sum sleep sort stat sync tail tar tee test
  timeout touch tr uname uniq wc whoami xargs'

# Prints the newest folder with the programs of a server. One of them, pg_config, knows the other folders.
find_on_machine() {
  found=$(command -v postgres || true)
  for folder in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) ${found:+"$(dirname "$(realpath "$found")")"}; do
    if [ -x "$folder/postgres" ] && [ -x "$folder/initdb" ] && [ -x "$folder/psql" ] && [ -x "$folder/pg_config" ]; then
      echo "$folder"
      return
    fi
  done
  return 1
}

# Copies folders and files of this machine to the same paths of the image. With absolute paths, coreutils 9.1 fails.
copy() {
  for path in "$@"; do (cd / && cp -a --parents ".$path" "$image"); done
}

# Copies the server whose programs are in the folder $1.
copy_server() {
  copy "$("$1/pg_config" --pkglibdir)" "$("$1/pg_config" --sharedir)"
  for pattern in $server_programs; do
    for program in "$1"/$pattern; do [ ! -e "$program" ] || copy "$program"; done
  done
}

# Runs apt-get with lists and packages in a folder of its own.
apt() {
  apt-get -qq -o Debug::NoLocking=true -o APT::Sandbox::User=root -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" "$@"
}

unpack_packages() {
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail 'this machine has neither PostgreSQL nor apt-get'
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/packages"
  apt -o APT::Update::Error-Mode=any update >&2 || fail 'apt-get update has failed'
  # The package `postgresql` depends on the server of the release.
  server=$(apt-cache -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" depends postgresql |
    sed -n 's/^ *Depends: \(postgresql-[0-9]*\)$/\1/p')
  [ -n "$server" ] || fail 'this release has no package postgresql'
  # Without LLVM, PostgreSQL does not compile expressions, and needs 120 MiB less.
  packages=$(apt --simulate --no-install-recommends --reinstall install "$server" "postgresql-client-${server#postgresql-}" |
    sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -v '^libllvm')
  # shellcheck disable=SC2086 # one word for each package
  (cd "$work/packages" && apt download $packages >&2) || fail 'apt-get download has failed'
  for package in "$work"/packages/*.deb; do dpkg -x "$package" "$image"; done
}

# Copies a file of this machine to the same path of the image, unless the image has it.
copy_file() {
  [ ! -e "$image$1" ] || return 0
  mkdir -p "$image$(dirname "$1")"
  cp -L "$1" "$image$1"
}

# Copies the shared libraries of programs and modules.
copy_libraries() {
  for folder in "$image"/usr/lib/*-linux-gnu*; do [ ! -d "$folder" ] || export LD_LIBRARY_PATH="$folder"; done
  for file in "$@"; do ldd "$file" 2>/dev/null || true; done |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | sort -u >"$work/libraries"
  unset LD_LIBRARY_PATH
  while read -r library; do
    case $library in "$image"/*) ;; *) copy_file "$library" ;; esac
  done <"$work/libraries"
}

mkdir -p "$image/usr/bin" "$image/usr/sbin" "$image/usr/lib" "$image/usr/lib64"
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$image/$folder"; done

bin=
if [ "$source" != packages ]; then bin=$(find_on_machine) || [ "$source" != machine ] || fail 'this machine has no PostgreSQL'; fi
if [ -n "$bin" ]; then
  origin=$bin
  copy_server "$bin"
else
  origin='the packages of this distribution'
  unpack_packages
  bin=$(cd "$image" && ls -d usr/lib/postgresql/*/bin) && bin=/$bin
fi
modules=$(dirname "$bin")/lib
[ -d "$image$modules" ] || modules=$("$bin/pg_config" --pkglibdir)
rm -rf "$image$modules"/llvmjit* "$image$modules/bitcode"

for name in $programs; do
  for folder in /usr/bin /bin /usr/sbin /sbin; do
    if [ -x "$folder/$name" ] && [ ! -e "$image/usr/bin/$name" ]; then cp -L "$folder/$name" "$image/usr/bin/$name"; fi
  done
done
copy_libraries "$image"/usr/bin/* "$image$bin"/* "$image$modules"/*.so
for folder in /usr/share/zoneinfo /usr/lib/locale/C.utf8; do
  if [ -d "$folder" ] && [ ! -e "$image$folder" ]; then copy "$folder"; fi
done

mkdir -p "$image/etc" "$image/root" "$image/run/postgresql" "$image/tmp" "$image/usr/local/bin" "$image/var/lib/postgresql/data" \
  "$image/docker-entrypoint-initdb.d"
[ -e "$image/var/run" ] || ln -s /run "$image/var/run"
chmod 1777 "$image/tmp"
chmod 3777 "$image/run/postgresql"
chmod 0700 "$image/root"
printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'postgres:x:999:999::/var/lib/postgresql:/bin/bash' \
  'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin' >"$image/etc/passwd"
printf '%s\n' 'root:x:0:' 'postgres:x:999:' 'nogroup:x:65534:' >"$image/etc/group"
printf '%s\n' 'passwd: files' 'group: files' 'hosts: files dns' >"$image/etc/nsswitch.conf"
cp "$here/docker-entrypoint.sh" "$image/usr/local/bin/docker-entrypoint.sh"
chmod 0755 "$image/usr/local/bin/docker-entrypoint.sh"

cat >"$image.json" <<END
{
  "architecture": "$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')",
  "os": "linux",
  "config": {
    "Entrypoint": ["docker-entrypoint.sh"],
    "Cmd": ["postgres"],
    "Env": [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$bin",
      "PGDATA=/var/lib/postgresql/data",
      "LANG=C.UTF-8"
    ],
    "ExposedPorts": { "5432/tcp": {} },
    "StopSignal": "SIGINT"
  },
  "history": [{ "created_by": "make-image.sh: PostgreSQL from $origin" }]
}
END
echo "PostgreSQL from $origin: $image"
