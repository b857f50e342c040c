// What rank 0 tells the first ranks of other machines, where ranks meet: that it has made the run.
// Only then their own disk can show whether it is the one that the run lies on. Under launchers
// that are not ours. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "trainer/comm/meeting_place.h"

namespace shardlens::trainer::rank {

// `start_ns`: of its RunInfo. Throws c10::Error.
void tell_made_run(c10d::Store& store, std::int64_t start_ns);

// Asks for it on another machine.
class MadeRun {
 public:
  explicit MadeRun(comm::MeetingPlace place) : place_(std::move(place)) {}

  // When it began, by rank 0's clock; none: it is not told yet. Waits some seconds where the place
  // to meet is not there.
  std::optional<std::int64_t> look();
  // Why it could not be asked for, the last time; "": it could.
  const std::string& problem() const { return problem_; }

 private:
  comm::MeetingPlace place_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::string problem_;
};

}  // namespace shardlens::trainer::rank
