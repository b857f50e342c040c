// Reads all of a run and says what is damaged, where, and what can still be read. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"

namespace shardlens::trace::store {

// Something that cannot be read, or does not add up.
struct Damage {
  std::string file{};
  int rank = -1;       // -1: the whole file
  int lane = -1;       // of a chunk; else -1
  std::string kind{};  // of a chunk's events; else ""
  std::int64_t first_ns = 0, last_ns = 0;
  std::int64_t events = 0;  // that are lost with it
  std::string what{};
};

struct VerifiedRank {
  std::int64_t chunks = 0;
  // As the chunks' rows say, and collectives, which are rows of their own: what a recorder counts.
  std::int64_t events = 0;
  std::int64_t readable_events = 0;
};

struct VerifyReport {
  std::int64_t start_ns = 0;  // of the run, as times are told; 0: not known
  int files = 0;
  std::int64_t bytes = 0;
  std::map<int, VerifiedRank> ranks;
  std::vector<Damage> damage;       // the first thousand
  std::int64_t further_damage = 0;  // how many more
  std::vector<model::Lost> lost;    // while recording, by rank and reason: known, hence no damage
  std::vector<std::string> notes;   // odd, but no damage
};

struct VerifyOptions {
  // From 0 to 1, on the caller's thread; false ends it.
  std::function<bool(double)> progress;
};

// Errors: kMissing for a run that is not there, kFailed if it was stopped. What is wrong with the
// files is in the report.
base::Result<VerifyReport> verify_run(const std::filesystem::path& run,
                                      const VerifyOptions& options = {});

}  // namespace shardlens::trace::store
