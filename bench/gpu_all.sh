#!/usr/bin/env bash
# Everything of Shardlens that needs a GPU, in one go on a bare machine: build, tests labelled gpu, benchmarks beside
# PyTorch, and recorded runs to look at. Results go into one folder (default gpu_results).
#   bench/gpu_all.sh [FOLDER]
# SHARDLENS_LIBTORCH: the folder of a Python package torch 2.11 that is there already; nothing is installed then, and what
# is built is the trainer alone, without the command line and GoogleTest's tests. SHARDLENS_RANK: a shardlens-rank that is
# built already; what lies beside it is used, too. PARTS: which of "tests step recorder runs" (default all), so that a
# machine that is there for minutes only can do one at a time. Without a GPU it says so and leaves with 0.
set -uo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(mkdir -p "${1:-gpu_results}" && cd "${1:-gpu_results}" && pwd)
PARTS=${PARTS:-tests step recorder runs}
BUILD=$ROOT/build/gpu
MOST_BYTES=$((3 << 20))  # of one recorded run, packed

say() { printf 'shardlens: %s\n' "$*" >&2; }

if ! nvidia-smi -L >"$OUT/gpus.txt" 2>/dev/null; then
  say "no GPU here (nvidia-smi finds none): nothing was done"
  rm -f "$OUT/gpus.txt"
  rmdir "$OUT" 2>/dev/null
  exit 0
fi
nvidia-smi >>"$OUT/gpus.txt"

targets="shardlens-rank bench_allocation_peak"
if [ -n "${SHARDLENS_LIBTORCH:-}" ]; then
  PYTHON=$(command -v python3) || { say "no python3 here, which the tests and benchmarks are written in"; exit 1; }
  parts_built="-DSHARDLENS_UI=OFF -DSHARDLENS_TESTS=OFF"
else
  source "$ROOT/scripts/setup.sh"
  ensure_packages $VIEWER_PACKAGES $TRAINER_PACKAGES $TEST_PACKAGES
  fetch_libtorch || exit 1
  PYTHON=$VENV/bin/python3
  SHARDLENS_LIBTORCH=$(echo "$VENV"/lib/python3*/site-packages/torch)
  parts_built="-DSHARDLENS_UNITY=ON"
  # The last two are what record_test.py records, besides Python.
  targets="$targets shardlens shardlens-record trainer_checkpoint_gpu_tests fake_gpu nvtx_program"
fi

if [ -n "${SHARDLENS_RANK:-}" ]; then
  PROGRAMS=$(dirname "$SHARDLENS_RANK")
else
  say "building"
  { cmake -S "$ROOT" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release $parts_built \
      -DSHARDLENS_LIBTORCH="$SHARDLENS_LIBTORCH" &&
    ninja -C "$BUILD" $targets
  } >"$OUT/build.log" 2>&1 || {
    say "the build failed; the end of $OUT/build.log:"
    tail -n 20 "$OUT/build.log" >&2
    exit 1
  }
  PROGRAMS=$BUILD/bin
fi
RANK=$PROGRAMS/shardlens-rank
failed=0

# run_test NAME PROGRAM ARGUMENTS…: what came of it into tests.txt, what it says into test_NAME.log
run_test() {
  local name=$1 result
  shift
  say "test $name"
  "$@" >"$OUT/test_$name.log" 2>&1
  case $? in
    0) result=passed ;;
    77) result="skipped: $(tail -n 1 "$OUT/test_$name.log")" ;;
    127) result="not built" ;;
    *) result=FAILED failed=1 ;;
  esac
  printf '%-14s %s\n' "$name" "$result" >>"$OUT/tests.txt"
}

run_tests() {
  local case
  for case in one_rank two_ranks four_ranks sixteen_bits overflow seldom_read recorded out_of_memory killed sanitized; do
    run_test "$case" "$PYTHON" -B "$ROOT/tests/trainer/truth/gpu_truth.py" "$RANK" "$case"
  done
  run_test checkpoint "$PROGRAMS/trainer_checkpoint_gpu_tests"
  if [ -x "$PROGRAMS/shardlens" ]; then
    SHARDLENS_TORCH_PYTHON=$PYTHON run_test record "$PYTHON" -B "$ROOT/tests/e2e/runs/record_test.py" "$PROGRAMS" "$ROOT"
  else
    printf '%-14s %s\n' record "not built" >>"$OUT/tests.txt"
  fi
}

# measure NAME ARGUMENTS…: rows into NAME.json, what it says into NAME.log
measure() {
  local name=$1 script=$2
  shift 2
  say "benchmark $name"
  "$PYTHON" -B "$ROOT/bench/gpu_step/$script.py" --programs "$PROGRAMS" "$@" >"$OUT/$name.json" 2>"$OUT/$name.log" ||
    { say "$name failed: $(tail -n 1 "$OUT/$name.log")"; failed=1; }
  ! grep '"met": false' "$OUT/$name.json" >/dev/null || { say "$name does not meet its budgets"; failed=1; }
}

# pack FOLDER NAME: one file of at most MOST_BYTES
pack() {
  local folder=$1 file=$OUT/$2.shardlens
  if [ -x "$PROGRAMS/shardlens" ]; then
    "$PROGRAMS/shardlens" pack "$folder" -o "$file" >>"$OUT/$2.log" 2>&1
  else
    file=$OUT/$2.tar.gz
    tar -C "$(dirname "$folder")" -czf "$file" "$(basename "$folder")"
  fi
  [ -e "$file" ] || { say "$2 could not be packed: $(tail -n 1 "$OUT/$2.log")"; failed=1; return; }
  [ "$(stat -c %s "$file")" -le $MOST_BYTES ] || { say "$2 is larger than $MOST_BYTES bytes"; failed=1; }
}

# record NAME RANKS SETTING…: a recorded run of the tiny model, packed
record() {
  local name=$1 ranks=$2 work
  shift 2
  work=$(mktemp -d)
  say "recording $name"
  "$PYTHON" -B "$ROOT/bench/gpu_step/record_run.py" "$RANK" "$work" "$name" "$ranks" "$@" >"$OUT/$name.log" 2>&1 || {
    say "$name failed: $(tail -n 1 "$OUT/$name.log")"
    failed=1
  }
  [ ! -d "$work/$name" ] || pack "$work/$name" "$name"
  rm -rf "$work"
}

for part in $PARTS; do
  case $part in
    tests) run_tests ;;
    step) measure gpu_step gpu_step ;;
    recorder)
      measure gpu_recorder_162m gpu_recorder --models gpt-162m
      measure gpu_recorder_1.4b gpu_recorder --models gpt-1.4b --runs 2 --steps 40
      ;;
    runs)
      for cap in 1 4 25; do record "gpu_ddp_cap_$cap" 2 bucket_cap_mb=$cap; done
      record gpu_full_shard 2 sharding_strategy=full_shard
      record gpu_full_shard_no_prefetch 2 sharding_strategy=full_shard backward_prefetch=none
      record gpu_ddp_straggler 4 "inject=rank=2,step=3,phase=forward,every=1,delay_ms=15"
      ;;
    *) say "there is no part \"$part\"; parts are tests, step, recorder and runs"; exit 2 ;;
  esac
done
say "results are in $OUT"
exit $failed
