#!/usr/bin/env bash
# Installs what a job needs and is not there yet, as Debian packages; says what it does; doing it twice changes nothing.
#   scripts/setup.sh [build|python|ranks|ci|asan|tsan|fuzz|pages|slides|peers|format|tidy|site|web|web-test|firefox|arm]...        default: build
set -euo pipefail

sanitizers="clang libclang-rt-dev llvm"
declare -A packages=(
  # libprotobuf-dev: from Debian 13 on pkg-config asks for it beside SentencePiece.
  [build]="g++ cmake ninja-build pkg-config libhwy-dev libicu-dev libsentencepiece-dev libprotobuf-dev libfasttext-dev libcli11-dev
           nlohmann-json3-dev zlib1g-dev libpng-dev librsvg2-dev libfontconfig-dev fonts-dejavu-core libgtest-dev libgmock-dev libmpfr-dev"
  [python]="python3-venv python3-dev"
  [ranks]="libopenmpi-dev openmpi-bin"
  [ci]="ccache"
  [asan]=$sanitizers
  [tsan]=$sanitizers
  [fuzz]=$sanitizers
  [pages]="chromium python3"
  [slides]="librsvg2-bin"
  [peers]="libdnnl-dev libopenblas-dev python3-venv python3-dev"
  [format]="clang-format git"
  [tidy]="clang-tidy clang"
  [site]="doxygen"
  [web]="emscripten python3"
  [web-test]="emscripten chromium python3-venv"
  [firefox]="firefox-esr"
  [arm]="g++-aarch64-linux-gnu qemu-user libhwy-dev:arm64 libgtest-dev:arm64 libgmock-dev:arm64 libmpfr-dev:arm64 libpng-dev:arm64 zlib1g-dev:arm64"
)

wanted=()
for job in build "$@"; do
  [[ -v packages[$job] ]] || { echo "setup: unknown job '$job'; known: ${!packages[*]}" >&2; exit 2; }
  read -r -d '' -a names <<<"${packages[$job]}" || true
  wanted+=("${names[@]}")
done
mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort -u)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this system has no apt. Please install, by whatever means it has, what these Debian packages hold:" >&2
  printf '  %s\n' "${wanted[@]}" >&2
  exit 1
fi

# Where a package is there for two architectures, its name alone has two states.
is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
native=$(dpkg --print-architecture)
missing=()
for name in "${wanted[@]}"; do
  is_installed "$name" || is_installed "$name:$native" || missing+=("$name")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "setup: installing packages needs root or sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
# Runs apt-get, and waits while another program holds one of its locks: a fresh machine upgrades itself in the background. apt's own
# DPkg::Lock::Timeout waits for dpkg's lock alone, not for those of the lists and the archive.
apt_get() {
  local said told='' end=$((SECONDS + 600))
  until said=$("${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" 2>&1 >/dev/null); do
    if [[ $said != *"Could not get lock"* ]] || ((SECONDS >= end)); then
      echo "$said" >&2
      return 1
    fi
    [[ $told ]] || echo "setup: another program holds apt's lock; waiting for it, at most 10 minutes: ${said#*get lock }" >&2
    told=yes
    sleep 2
  done
  [[ -z $said ]] || echo "$said" >&2
}
echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
if [[ ${missing[*]} == *:arm64* && $(dpkg --print-foreign-architectures) != *arm64* ]]; then
  "${as_root[@]}" dpkg --add-architecture arm64
fi
if ! apt_get update || ! apt_get install -y --no-install-recommends "${missing[@]}"; then
  echo "setup: apt could not install them (is the network there?); install these packages and run this again: ${missing[*]}" >&2
  exit 1
fi
echo "setup: done"
