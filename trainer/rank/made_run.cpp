#include "trainer/rank/made_run.h"

#include <chrono>
#include <exception>
#include <vector>

#include "trace/base/text.h"
#include "trainer/comm/rendezvous.h"

namespace shardlens::trainer::rank {

namespace {

constexpr const char* kMadeRun = "made run";

// For the place to meet, which rank 0 may have to open first.
constexpr std::chrono::seconds kMeetingPatience{10};

}  // namespace

void tell_made_run(c10d::Store& store, std::int64_t start_ns) {
  store.set(kMadeRun, std::to_string(start_ns));
}

std::optional<std::int64_t> MadeRun::look() {
  problem_.clear();
  try {
    if (!store_) store_ = comm::meet(place_, kMeetingPatience);
    if (!store_->check({std::string(kMadeRun)})) return std::nullopt;
    const std::vector<std::uint8_t> start_ns = store_->get(kMadeRun);
    return trace::base::number_from<std::int64_t>(std::string(start_ns.begin(), start_ns.end()));
  } catch (const c10::Error& error) {
    problem_ = error.what_without_backtrace();
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
  store_.reset();
  return std::nullopt;
}

}  // namespace shardlens::trainer::rank
