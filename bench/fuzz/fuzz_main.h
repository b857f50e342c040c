// The command line of a fuzzer, and how it tells of failures. Main thread.
#pragma once

#include "bench/fuzz/fuzz_run.h"

namespace shardlens::bench {

// 0, also after failures, which the rows on standard output tell to `shardlens bench`; with
// --fail, 1 after failures, or if one of all subjects ran no case. Standard error says of each how
// to repeat it.
int fuzz_main(int argc, const char* const* argv, Subjects subjects);

}  // namespace shardlens::bench
