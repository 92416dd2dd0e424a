#!/usr/bin/env bash
# Builds the container image proreus:<version> and runs `proreus --version` in it. The output of that command goes to stdout, and everything
# else to stderr. The image is built with docker or podman if one of them works; otherwise, as root on a Debian-like system, with buildah
# and a base image that debootstrap creates. An image that was built from the same sources is not built again.
#
#   BASE      replaces the base images (see the Dockerfile)
#   IMAGE     name of the image instead of proreus:<version>
#   BUILDER   docker, podman or buildah; default: the first one that works
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
image=${IMAGE:-proreus:$version}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/proreus
debian=bookworm
work=$(mktemp -d)
container=

say() { echo "$*" >&2; }

fail() {
  say "The image cannot be built: $*"
  exit 1
}

finish() {
  if [ -n "$container" ]; then buildah_ rm "$container" >/dev/null 2>&1 || true; fi
  rm -rf "$work"
}
trap finish EXIT

# Runs buildah. Its images and containers are in the cache folder of Proreus, and the vfs driver needs no overlay file system.
buildah_() {
  buildah --root "$cache/containers" --runroot "$cache/containers/run" --storage-driver vfs "$@"
}

# Succeeds when the container engine $1 works. docker must have buildx, because the Dockerfile mounts secrets.
works() {
  "$1" info && { [ "$1" != docker ] || docker buildx version; }
}

choose_builder() {
  if [ -n "${BUILDER:-}" ]; then
    echo "$BUILDER"
    return
  fi
  local engine
  for engine in docker podman; do
    if works "$engine" >/dev/null 2>&1; then
      echo "$engine"
      return
    fi
  done
  echo buildah
}

install_buildah() {
  local missing=() tool
  for tool in buildah debootstrap; do
    if ! command -v "$tool" >/dev/null; then missing+=("$tool"); fi
  done
  [ "$(id -u)" -eq 0 ] || fail "neither docker nor podman works here, and buildah needs root. Start a container engine, or run this as root."
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    fail "neither docker nor podman works here, and ${missing[*]} cannot be installed without apt-get. Start a container engine, or install ${missing[*]}."
  say "Installing ${missing[*]} …"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"; } >"$work/apt.log" 2>&1 ||
    { cat "$work/apt.log" >&2 && fail "apt-get could not install ${missing[*]}."; }
}

# Creates the base image, a minimal Debian, unless it exists.
make_base() {
  if buildah_ inspect --type image "localhost/proreus-base:$debian" >/dev/null 2>&1; then return; fi
  say "Making a base image of Debian $debian (once) …"
  debootstrap --variant=minbase "$debian" "$work/base" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 20 "$work/debootstrap.log" >&2 && fail "debootstrap failed."; }
  # Documentation, caches and translations are removed, because they would be in every stage of the build. Copyright notices stay.
  rm -rf "$work"/base/var/cache/apt/* "$work"/base/var/lib/apt/lists/* "$work"/base/var/log/* "$work"/base/usr/share/{info,locale,man}/*
  find "$work/base/usr/share/doc" -type f ! -name copyright -delete
  container=$(buildah_ from scratch)
  buildah_ add --quiet "$container" "$work/base" / >/dev/null
  buildah_ commit --quiet "$container" "localhost/proreus-base:$debian" >/dev/null
  buildah_ rm "$container" >/dev/null
  container=
  rm -rf "$work/base"
}

# Puts npm and Node.js into a cache folder that buildah mounts during the build, because the Debian base image has neither.
make_tools() {
  node scripts/install.mjs >&2
  if [ ! -x "$cache/tools/bin/npm" ]; then
    npm install --global --prefix "$work/tools" --loglevel=error --ignore-scripts npm@11.21.2 >&2
    rm -rf "$cache/tools"
    mkdir -p "$cache"
    mv "$work/tools" "$cache/tools"
  fi
  cp node_modules/.bin/node "$cache/tools/bin/node"
}

# Prints the value of the npm setting $1 of this machine.
setting() {
  sed -n "s/^$1=//p" <<<"$settings"
}

# Writes the settings of this machine that npm needs for downloads (registry, proxy, credentials, CA) into files. The build mounts the
# files as secrets, so no layer of the image contains them.
make_secrets() {
  local key file
  settings=$(npm config get registry proxy https-proxy noproxy strict-ssl cafile globalconfig userconfig cache 2>/dev/null)
  for key in registry proxy https-proxy noproxy strict-ssl; do
    case $(setting "$key") in '' | null | undefined) ;; *) echo "$key=$(setting "$key")" ;; esac
  done >"$work/npmrc"
  for file in "$(setting globalconfig)" "$(setting userconfig)"; do
    if [ -r "$file" ]; then grep -E '^(//|@|_auth)' "$file" >>"$work/npmrc" || true; fi
  done
  if [ -r "$(setting cafile)" ]; then
    cp "$(setting cafile)" "$work/ca"
  elif [ -r "${NODE_EXTRA_CA_CERTS:-}" ]; then
    { node -p 'require("node:tls").rootCertificates.join("\n")' && cat "$NODE_EXTRA_CA_CERTS"; } >"$work/ca"
  fi
  secrets=(--secret "id=npmrc,src=$work/npmrc")
  if [ -e "$work/ca" ]; then
    echo 'cafile=/run/secrets/ca' >>"$work/npmrc"
    secrets+=(--secret "id=ca,src=$work/ca")
  fi
}

# Prints a hash of all source files of the image and of the base image's name.
inputs_hash() {
  local sum=(sha256sum)
  command -v sha256sum >/dev/null || sum=(shasum -a 256)
  {
    echo "${BASE:-}"
    find Dockerfile .dockerignore .npmrc LICENSE package.json package-lock.json tools/node tsconfig.json tsconfig.build.json scripts/build.ts scripts/build-image.sh src \
      -type f -print0 | LC_ALL=C sort -z | xargs -0 "${sum[@]}"
  } | "${sum[@]}" | cut -c1-32
}

# Prints the hash of the sources from which the existing image was built. It is a label of the image. Prints nothing when there is no image.
inputs_of_image() {
  case $builder in
  buildah) command -v buildah >/dev/null && buildah_ inspect --type image --format '{{index .OCIv1.Config.Labels "proreus.inputs"}}' "$image" ;;
  *) "$builder" image inspect --format '{{index .Config.Labels "proreus.inputs"}}' "$image" ;;
  esac 2>/dev/null || true
}

build() {
  local arguments=(--build-arg "VERSION=$version" --build-arg "INPUTS=$inputs" --iidfile "$work/id" "${secrets[@]}")
  case $builder in
  buildah) buildah_ build --isolation chroot --build-arg "BASE=${BASE:-localhost/proreus-base:$debian}" --volume "$cache/tools:/usr/local:ro" --volume "$(setting cache):/root/.npm" "${arguments[@]}" . ;;
  *) "$builder" build ${BASE:+--build-arg "BASE=$BASE"} "${arguments[@]}" . ;;
  esac >"$work/build.log" 2>&1 ||
    { tail -n 60 "$work/build.log" >&2 && fail "$builder build ended with the lines above."; }
}

# Runs Node.js with the given arguments in the new image, as the user of the image.
run_node() {
  case $builder in
  buildah) buildah_ run --isolation chroot "$container" -- /usr/local/bin/node "$@" ;;
  *) "$builder" run --rm --read-only --network none --entrypoint /usr/local/bin/node "$id" "$@" ;;
  esac
}

verify() {
  local uid said
  if [ "$builder" = buildah ]; then container=$(buildah_ from "$id"); fi
  uid=$(run_node -p 'process.getuid()') || fail "Node.js does not run in it."
  [ "$uid" = 65532 ] || fail "it runs as user $uid, not as 65532."
  said=$(run_node /app/dist/cli/bin.js --version) || fail "\"proreus --version\" fails in it."
  [ "$said" = "$version" ] || fail "\"proreus --version\" says \"$said\" in it, not $version."
}

builder=$(choose_builder)
inputs=$(inputs_hash)
if [ "$(inputs_of_image)" = "$inputs" ]; then
  say "The image $image is up to date."
  echo "$version"
  exit 0
fi

if [ "$builder" = buildah ]; then
  install_buildah
  mkdir -p "$cache"
  # Only one build runs at a time; containers of an interrupted build are removed.
  exec 9>"$cache/image.lock"
  flock 9
  buildah_ rm --all >/dev/null 2>&1 || true
  [ -n "${BASE:-}" ] || make_base
  make_tools
fi
say "Building the image $image with $builder …"
make_secrets
build
id=$(cat "$work/id")
verify
case $builder in
buildah)
  buildah_ tag "$id" "$image"
  buildah_ rmi --prune >/dev/null 2>&1 || true
  say "The image is among buildah's own: buildah --root $cache/containers --storage-driver vfs push $image docker-archive:proreus.tar"
  ;;
*) "$builder" tag "$id" "$image" ;;
esac
say "The image $image is built; proreus --version in it, as user 65532:"
echo "$version"
