#include "trainer/rank/made_run.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <vector>

#include "trainer/comm/rendezvous.h"

namespace shardlens::trainer::rank {

namespace {

constexpr const char* kMadeRun = "made run";

// For the place to meet, which rank 0 may have to open first.
constexpr std::chrono::seconds kMeetingPatience{10};

}  // namespace

comm::CommunicatorOptions place_to_meet(const RankPlace& place) {
  comm::CommunicatorOptions options;
  options.rank = place.rank;
  options.world_size = place.world_size;
  options.store_file = place.store_file;
  options.master_address = place.master_address;
  options.master_port = place.master_port;
  options.agent_store = place.agent_store;
  options.store_prefix = place.restart_count;
  return options;
}

std::string mark_of(const trace::model::RunInfo& run) {
  return std::to_string(run.start_ns) + " " + run.machine;
}

void tell_made_run(c10d::Store& store, const trace::model::RunInfo& run) {
  const std::string mark = mark_of(run);
  store.set(kMadeRun, std::vector<std::uint8_t>(mark.begin(), mark.end()));
}

std::optional<std::string> MadeRun::look() {
  problem_.clear();
  try {
    if (!store_) store_ = comm::meet(options_, kMeetingPatience);
    if (!store_->check({std::string(kMadeRun)})) return std::nullopt;
    const std::vector<std::uint8_t> mark = store_->get(kMadeRun);
    return std::string(mark.begin(), mark.end());
  } catch (const c10::Error& error) {
    problem_ = error.what_without_backtrace();
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
  store_.reset();
  return std::nullopt;
}

}  // namespace shardlens::trainer::rank
