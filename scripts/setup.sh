# Sourced by ./run and ./test: installs what is missing and builds. Everything it says goes to
# standard error, one calm line per thing that takes time; the details go to build/setup.log.

TORCH_VERSION=2.11.0
DEPS=$ROOT/.deps
# There once LibTorch is; says "cpu" while what only GPUs and PyTorch itself need is not.
TORCH_SET=$DEPS/libtorch-$TORCH_VERSION
VENV=$DEPS/venv
ORACLES=$DEPS/oracles
# What prepares texts for the trainer, as trainer/text/prepare/packages.py says it.
TEXT_PACKAGES=$(sed -n 's/^PACKAGES = "\(.*\)"$/\1/p' "$ROOT/trainer/text/prepare/packages.py")
ORACLE_PACKAGES="transformers==5.23.0 ${TEXT_PACKAGES% *} peft==0.21.2 safetensors==0.8.0 ${TEXT_PACKAGES#* } accelerate==1.15.0 deepspeed==0.19.8"
LOG=$ROOT/build/setup.log
GPUS=  # not asked yet
mkdir -p "$ROOT/build" "$DEPS"

VIEWER_PACKAGES="g++ lld cmake ninja-build ccache pkg-config libsqlite3-dev libxxhash-dev libzstd-dev zlib1g-dev
  libsimdjson-dev libre2-dev libexpected-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev libcmark-dev libglfw3-dev libgl-dev libimgui-dev libstb-dev
  libfreetype-dev
  libgl1-mesa-dri fonts-inter fonts-jetbrains-mono"
TRAINER_PACKAGES="python3 python3-venv"
TEST_PACKAGES="libgtest-dev libgmock-dev xvfb xauth xdotool sqlite3 clang-format iproute2"

say() { printf 'shardlens: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

# ensure_packages NAME…: Debian packages, installed if we may, else the one command to do it.
ensure_packages() {
  local missing=() name
  local installed
  # It fails where it has never heard of one of them, which is no reason to end.
  installed=" $({ dpkg-query -W -f '${db:Status-Abbrev}${Package} ' "$@" 2>/dev/null || true; } | tr '\n' ' ') "
  for name in "$@"; do
    [[ $installed == *" ii $name "* || $installed == *"ii $name "* ]] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "${#missing[@]} packages are missing. Install them with this command, then start again:"
    say "  sudo apt-get install --no-install-recommends -y ${missing[*]}"
    exit 1
  fi
  say "installing ${#missing[@]} Debian packages"
  { apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } >>"$LOG" 2>&1 || die "apt-get failed; see $LOG"
}

# Whether ranks would find a GPU, by what the program itself asks of CUDA's driver (app/launch/device_probe.h).
has_gpu() {
  [ -n "$GPUS" ] || GPUS=$(/usr/bin/python3 -c '
from ctypes import CDLL, byref, c_int
cuda, count = CDLL("libcuda.so.1"), c_int()
cuda.cuInit(0) or cuda.cuDeviceGetCount(byref(count))
print(count.value)' 2>/dev/null) || GPUS=0
  [ "$GPUS" -gt 0 ]
}

# SHARDLENS_WITH_CUDA: set by who builds for another machine, and by ./test, as PyTorch itself does not start without.
wants_whole_libtorch() { [ -n "${SHARDLENS_WITH_CUDA:-}" ] || has_gpu; }

libtorch_there() { [ -n "${SHARDLENS_LIBTORCH:-}" ] || [ -e "$TORCH_SET" ]; }

# There, and all that is wanted of it.
libtorch_ready() {
  libtorch_there && { [ -n "${SHARDLENS_LIBTORCH:-}" ] || [ ! -s "$TORCH_SET" ] || ! wants_whole_libtorch; }
}

# pip_install VENV PACKAGE…: downloads lie in .deps meanwhile, as /tmp may be too small for them.
pip_install() {
  local venv=$1 downloads=$DEPS/downloads.$BASHPID
  shift
  mkdir -p "$downloads"
  TMPDIR=$downloads "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  local code=$?
  rm -rf "$downloads"
  return $code
}

# fetch_once READY FETCH: ./run and ./test may want the same at once: one fetches, and the others wait and find it there.
fetch_once() {
  "$1" && return 0
  (
    flock -n 9 || { say "waiting for another ./run or ./test that fetches into .deps"; flock 9; }
    "$1" || "$2"
  ) 9>"$DEPS/lock"
}

# LibTorch comes with the Python package, which is also the tests' oracle.
fetch_libtorch() { fetch_once libtorch_ready install_libtorch; }

install_libtorch() {
  local what="LibTorch $TORCH_VERSION with CUDA, CUPTI and NCCL (2.7 GB, unpacked 5.0 GB"
  if ! wants_whole_libtorch; then
    what="LibTorch $TORCH_VERSION without what only GPUs need (0.5 GB, unpacked 1.3 GB"
  elif libtorch_there; then
    what="what GPUs need beside LibTorch (2.2 GB, unpacked 3.7 GB"
  fi
  say "fetching $what, once) into .deps"
  say "  a copy that is there is used instead: SHARDLENS_LIBTORCH=<folder of the Python package torch>"
  rm -rf "$DEPS"/downloads.*
  { libtorch_there || install_libtorch_for_cpus; } >>"$LOG" 2>&1 && { ! wants_whole_libtorch || complete_libtorch >>"$LOG" 2>&1; } &&
    return 0
  say "pip could not install torch==$TORCH_VERSION; see $LOG"
  # As on a cluster's node without a network.
  libtorch_there && [ -z "${SHARDLENS_WITH_CUDA:-}" ] && say "  until it can, jobs run with device=cpu alone"
}

# cuda_toolkit PARTS: of the release of CUDA that torch itself asks for.
cuda_toolkit() {
  sed -n "/^Requires-Dist: cuda-toolkit\[/ { s/.*\]\(==[^;]*\).*/cuda-toolkit[$1]\1/p; q }" \
    "$VENV"/lib/python3*/site-packages/torch-*.dist-info/METADATA
}

# LibTorch's libraries want CUDA's runtime and CUPTI also on a CPU, and their headers those of "crt"; NCCL's want those of
# "cccl". Torch asks for neither.
install_libtorch_for_cpus() {
  rm -rf "$VENV" "$DEPS"/libtorch-*
  /usr/bin/python3 -m venv "$VENV" && pip_install "$VENV" --no-deps "torch==$TORCH_VERSION" &&
    pip_install "$VENV" "$(cuda_toolkit crt,cudart,cupti)" && echo cpu >"$VENV/set" && mv "$VENV/set" "$TORCH_SET"
}

# An interrupted one goes on where it was: pip takes a package for installed only once all its files are there.
complete_libtorch() {
  pip_install "$VENV" "torch==$TORCH_VERSION" numpy "$(cuda_toolkit cccl)" && : >"$TORCH_SET"
}

# Beside LibTorch; also where that is somebody else's.
fetch_text_packages() { fetch_once text_packages_ready install_text_packages; }

text_packages_ready() { [ "$(cat "$VENV/text-packages" 2>/dev/null)" = "$TEXT_PACKAGES" ]; }

install_text_packages() {
  say "fetching tokenizers and jinja2, which prepare texts, into .deps"
  { { [ -x "$VENV/bin/pip" ] || /usr/bin/python3 -m venv "$VENV"; } &&
    pip_install "$VENV" $TEXT_PACKAGES
  } >>"$LOG" 2>&1 || { say "pip could not install $TEXT_PACKAGES; see $LOG"; return 1; }
  printf '%s' "$TEXT_PACKAGES" >"$VENV/text-packages"
}

# What only tests compare with, beside LibTorch's Python, which it uses.
fetch_oracles() { fetch_once oracles_ready install_oracles; }

oracles_ready() { [ "$(cat "$ORACLES/versions" 2>/dev/null)" = "$ORACLE_PACKAGES" ]; }

install_oracles() {
  say "fetching transformers, tokenizers, peft, accelerate and deepspeed for the tests into .deps"
  rm -rf "$ORACLES"
  { /usr/bin/python3 -m venv "$ORACLES" &&
    "$VENV/bin/python3" -c 'import site; print(site.getsitepackages()[0])' \
      >"$("$ORACLES/bin/python3" -c 'import site; print(site.getsitepackages()[0])')/libtorch.pth" &&
    pip_install "$ORACLES" $ORACLE_PACKAGES
  } >>"$LOG" 2>&1 || { say "pip could not install $ORACLE_PACKAGES; see $LOG"; return 1; }
  printf '%s' "$ORACLE_PACKAGES" >"$ORACLES/versions"
}

# built FOLDER: how many files of the build at hand are finished, and of how many; nothing before the first one is.
built() {
  grep -oE '^\[[0-9]+/[0-9]+\]' "$1/build.log" 2>/dev/null | tail -n 1 | tr -d '[]' | tr '/' ' '
}

# Beside a build, until it is killed or ./run is: on a terminal one line that counts, elsewhere a line a minute.
tell_progress() {
  local folder=$1 seconds=0 finished total
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    read -r finished total < <(built "$folder")
    [ -n "${total:-}" ] || continue
    if [ -t 2 ]; then
      printf '\r\033[Kshardlens: %s of %s files are built' "$finished" "$total" >&2
    elif [ $((seconds % 60)) -eq 0 ]; then
      say "$finished of $total files are built"
    fi
  done
}

# build PRESET TRAINER(ON|OFF) TARGET…: configures when needed and builds. A folder that is new is compiled in batches
# of files, in half the time; after `cmake --preset dev -DSHARDLENS_UNITY=OFF` a file that is changed is compiled alone.
build() {
  local preset=$1 trainer=$2 folder=$ROOT/build/$1
  shift 2
  local configured first=()
  configured=$(sed -n 's/^SHARDLENS_TRAINER:BOOL=//p' "$folder/CMakeCache.txt" 2>/dev/null)
  [ -e "$folder/build.ninja" ] || first=(-DSHARDLENS_UNITY=ON)
  if [ "$configured" != "$trainer" ] || [ ! -e "$folder/build.ninja" ]; then
    (cd "$ROOT" && cmake --preset "$preset" -DSHARDLENS_TRAINER="$trainer" "${first[@]}" \
      ${SHARDLENS_LIBTORCH:+-DSHARDLENS_LIBTORCH="$SHARDLENS_LIBTORCH"}) >>"$LOG" 2>&1 ||
      { say "cmake failed:"; tail -n 20 "$LOG" >&2; return 1; }
  fi
  : >"$folder/build.log"
  tell_progress "$folder" &
  local progress=$! failed=
  # Ninja's own choice, two more than there are cores, takes a tenth longer where these are two.
  ninja -C "$folder" -j"$(nproc)" "$@" >"$folder/build.log" 2>&1 || failed=1
  kill "$progress" 2>/dev/null
  wait "$progress" 2>/dev/null
  [ ! -t 2 ] || printf '\r\033[K' >&2
  [ -z "$failed" ] ||
    { say "the build failed:"; grep -vE '^\[[0-9]+/' "$folder/build.log" | tail -n 40 >&2; return 1; }
}
