// Runs the cases of subjects one after another in a process of their own, and watches it: whatever
// a case does to that process is found out and told with how to repeat it. Main thread, with no
// other threads about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/fuzz/subject.h"
#include "trace/base/result.h"

namespace shardlens::bench {

struct FuzzOptions {
  double seconds = 60;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> only;  // this case alone
  std::string subject;               // cases of others are passed over; "": of all
  std::size_t most_failures = 20;    // ends after so many
  std::filesystem::path keep = "fuzz_failures";
  // What a case may take: computing, waiting (other processes may be in the way), memory beyond
  // what the subjects are prepared with.
  double computing_s = 10, waiting_s = 60;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
};

struct FuzzFailure {
  std::int64_t number = 0;  // of the case
  std::string subject;
  std::string what;
  std::filesystem::path kept;  // a folder: its input, and what it said
};

struct FuzzResult {
  std::map<std::string, std::int64_t, std::less<>> cases;  // by subject
  double slowest_s = 0;                                    // to compute
  std::int64_t slowest = 0;
  std::vector<FuzzFailure> failures;
};

using Subjects = std::span<const std::unique_ptr<Subject>>;

// `failed` hears of failures as they are found. Errors: a subject cannot be prepared.
trace::base::Result<FuzzResult> run_fuzzer(Subjects subjects, const FuzzOptions& options,
                                           const std::function<void(const FuzzFailure&)>& failed);

// The command line of a fuzzer: 0, also after failures, which the rows on standard output tell to
// `shardlens bench`; with --fail, 1 after failures, or if one of all subjects ran no case. Standard
// error says of each how to repeat it.
int fuzz_main(int argc, const char* const* argv, Subjects subjects);

}  // namespace shardlens::bench
