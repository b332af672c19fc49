# Sourced by the scripts in this folder: where things are, and how a script speaks.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/.venv"
script=$(basename "$0")
PATH="$venv/bin:$PATH"

say() { printf '%s: %s\n' "$script" "$*"; }

die() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}

# Prints the comment at the top of the running script.
show_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# The C++ and CUDA files under the given folders that Git tracks or would track.
list_sources() {
  git -C "$root" ls-files -co --exclude-standard --deduplicate -- "$@" | grep -E '\.(h|cpp|cu|cuh)$' |
    while read -r file; do [ ! -f "$root/$file" ] || echo "$file"; done
}

# build_preset PRESET [TARGET…]: configures once, then builds; later configuring is Ninja's own decision.
build_preset() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  cd "$root"
  if [ ! -f "build/$preset/build.ninja" ]; then
    say "configuring build/$preset (about 15 seconds)"
    mkdir -p "build/$preset"
    cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || {
      grep -A3 -m1 'CMake Error' "build/$preset/configure.log" >&2
      grep -E 'error:|cannot find' "build/$preset/configure.log" | head -n 3 >&2
      rm -f "build/$preset/build.ninja"
      die "configuring failed: see build/$preset/configure.log; scripts/setup installs what the build needs"
    }
  fi
  cmake --build --preset "$preset" "${targets[@]}" ||
    die "building failed: the first error above says where; delete build/$preset if the compiler or .venv has changed"
}
