# Sourced by tools/check and tools/demo: what must be there before a build, and
# the build itself. Every step looks first and does only what is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
setup=$root/tools/setup
build=$root/build
venv=$build/venv

say() { printf '== %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Prints the Debian packages of packages.txt that are not installed.
missing_packages() {
  local package
  while read -r package; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) echo "$package" ;;
    esac
  done < <(grep -v '^#' "$setup/packages.txt")
}

# Fails unless apt knows the packages that it is given.
find_packages() {
  local unknown=() package
  for package in "$@"; do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  ((${#unknown[@]})) || return 0
  fail "expects these packages in what /etc/apt/sources.list and" \
    "/etc/apt/sources.list.d name, but apt does not know them: ${unknown[*]};" \
    "for Debian 12, LLVM 22 is in: deb http://deb.debian.org/debian-security" \
    "bookworm-security main"
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    fail "expects Debian 12 or newer, but there is no dpkg-query; install what" \
      "$setup/packages.txt lists by other means and build with CMake"
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  [[ $(id -u) == 0 ]] ||
    fail "expects these Debian packages, which are not installed:" \
      "${missing[*]}; run as root: apt-get install ${missing[*]}"
  say "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q || fail "apt-get could not update its lists of packages"
  find_packages "${missing[@]}"
  apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}"
}

# The environment is rebuilt when requirements.txt differs from the copy that
# was kept in it. One without a pip that runs was left by what did not end.
install_venv() {
  local stamp=$venv/requirements.txt
  cmp -s "$setup/requirements.txt" "$stamp" && return 0
  say "installing Python packages into $venv"
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 ||
    /usr/bin/python3 -m venv --clear "$venv" ||
    fail "python3 -m venv could not make $venv"
  "$venv/bin/python" -m pip install --quiet -r "$setup/requirements.txt" ||
    fail "pip could not install what $setup/requirements.txt lists"
  echo "$build/python" >"$("$venv/bin/python" -c \
    'import sysconfig; print(sysconfig.get_path("purelib"))')/espalier.pth"
  cp "$setup/requirements.txt" "$stamp"
}

# Builds the targets that it is given, or everything. A build keeps the compilers
# that it began with: CMake starts again, with others, if a name leads to another
# path than before.
build_targets() {
  local compilers=()
  [[ -e $build/build.ninja ]] ||
    compilers=(-DCMAKE_C_COMPILER="$(command -v clang-22)"
      -DCMAKE_CXX_COMPILER="$(command -v clang++-22)")
  say "building in $build"
  cmake -G Ninja -S "$root" -B "$build" "${compilers[@]}" \
    -DPython_EXECUTABLE="$venv/bin/python" --log-level=WARNING
  cmake --build "$build" --parallel "$(nproc)" ${1:+--target "$@"}
}

# Installs what is missing and builds; the arguments are those of build_targets.
prepare() {
  install_packages
  install_venv
  build_targets "$@"
}
