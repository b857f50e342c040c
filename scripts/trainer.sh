# Sourced by ./run: fetching and building the trainer, in front of or behind the window.

TRAINER_STATUS=$ROOT/build/release/trainer-setup
RANK=$ROOT/build/release/bin/shardlens-rank

trainer_configured() {
  grep -q '^SHARDLENS_TRAINER:BOOL=ON' "$ROOT/build/release/CMakeCache.txt" 2>/dev/null &&
    libtorch_there
}

# Built, and nothing has changed since.
trainer_current() {
  trainer_configured && libtorch_ready && [ -x "$RANK" ] && text_packages_ready &&
    [ -z "$(ninja -C "$ROOT/build/release" -n 2>/dev/null | grep -E '^\[')" ]
}

install_trainer() {
  (
    flock 9
    fetch_libtorch || exit 1
    fetch_text_packages  # without them all works but models' tokenizers, which say what is missing
    [ -x "$RANK" ] || say "building the trainer (some minutes, once)"
    build release ON
  ) 9>"$ROOT/build/release.lock"
}

# status STATE MESSAGE [FRACTION]: read by the window.
status() {
  printf 'state=%s\nmessage=%s\nfraction=%s\n' "$1" "$2" "${3:--1}" >"$TRAINER_STATUS.new" &&
    mv "$TRAINER_STATUS.new" "$TRAINER_STATUS"
}

report_progress() {
  local megabytes finished total
  while sleep 1; do
    if ! libtorch_ready; then
      [ -d "$VENV" ] || continue
      # As downloaded and as unpacked, which lie beside each other until pip has ended.
      total=1700
      ! wants_whole_libtorch || total=6800
      megabytes=$(du -cm "$VENV" "$DEPS"/downloads.* 2>/dev/null | tail -n 1 | cut -f1)
      status installing "Fetching LibTorch: $megabytes of about $total MB" \
        "$(awk -v m="$megabytes" -v t="$total" 'BEGIN { f = m / t; print (f > 0.99 ? 0.99 : f) }')"
    else
      read -r finished total < <(built "$ROOT/build/release")
      [ -n "${total:-}" ] && status installing "Building the trainer: $finished of $total files" \
        "$(awk -v f="$finished" -v t="$total" 'BEGIN { print f / t }')"
    fi
  done
}

# ends_well_beside WINDOW JOB: whether the job did; it ends with the window, with all that it has started.
ends_well_beside() {
  while kill -0 "$2" 2>/dev/null; do
    kill -0 "$1" 2>/dev/null || kill -- "-$2" 2>/dev/null
    sleep 1
  done
  wait "$2"
}

# Runs beside the window; ends with it, or once the trainer is there.
install_trainer_behind_window() {
  local window=$$ progress problem  # the shell that became the window
  exec </dev/null >/dev/null 2>>"$LOG"
  set -m  # what is started here has a process group of its own, which can be ended
  while kill -0 "$window" 2>/dev/null; do
    rm -f "$TRAINER_STATUS.retry"
    status installing "Preparing the trainer"
    report_progress &
    progress=$!
    # Debian's packages are waited for: they must not be left half installed.
    if (ensure_packages $TRAINER_PACKAGES) && { install_trainer & ends_well_beside "$window" $!; }; then
      kill "$progress"
      status ready "The trainer is ready"
      return 0
    fi
    problem=$(tail -n 1 "$LOG")
    kill "$progress"
    status failed "$problem. Details: build/setup.log"
    while kill -0 "$window" 2>/dev/null && [ ! -e "$TRAINER_STATUS.retry" ]; do sleep 1; done
  done
}
