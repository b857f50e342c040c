#include "trace/store/sqlite/stop_reading.h"

#include <utility>

namespace shardlens::trace::store {

namespace {
// SQLite's handlers have no other way to the caller of the reader that they are asked for.
thread_local StopReading* innermost_stop = nullptr;
}  // namespace

StopReading::StopReading(std::function<bool()> is_wanted)
    : is_wanted_(std::move(is_wanted)), outer_(std::exchange(innermost_stop, this)) {}

StopReading::~StopReading() { innermost_stop = outer_; }

bool StopReading::wanted() {
  for (StopReading* stop = innermost_stop; stop != nullptr; stop = stop->outer_) {
    const std::lock_guard lock(stop->mutex_);
    stop->was_wanted_ = stop->was_wanted_ || stop->is_wanted_();
    if (stop->was_wanted_) return true;
  }
  return false;
}

StopReading* StopReading::innermost() { return innermost_stop; }

StopReading::OnBehalf::OnBehalf(StopReading* of) : own_(std::exchange(innermost_stop, of)) {}

StopReading::OnBehalf::~OnBehalf() { innermost_stop = own_; }

}  // namespace shardlens::trace::store
