// Fuzzers over all that strangers may give to this program.
//   bench_fuzz --seconds N --seed S
// With the sanitizers:
//   ./test --preset asan --target bench_fuzz -R Fuzz.ReadsWhateverIsDamaged
#include "bench/fuzz/fuzz_run.h"
#include "bench/fuzz/subject.h"

// The sanitizers ask these when a program starts. What they find ends it.
extern "C" {
const char* __asan_default_options();
const char* __ubsan_default_options();
const char* __tsan_default_options();
const char* __asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:quarantine_size_mb=16:detect_stack_use_after_return=0";
}
const char* __ubsan_default_options() {
  return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}
const char* __tsan_default_options() { return "halt_on_error=1"; }
}

int main(int argc, char** argv) {
  return shardlens::bench::fuzz_main(argc, argv, shardlens::bench::all_subjects());
}
