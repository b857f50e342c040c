#include "app/launch/hang_monitor.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace shardlens::app::launch {
namespace {

// After an error.
constexpr std::chrono::seconds kShortestPause{1};
constexpr std::chrono::seconds kLongestPause{10};

}  // namespace

HangMonitor::HangMonitor(std::filesystem::path folder, const trace::model::RunInfo& run,
                         std::function<void(const trace::model::Batch&)> take)
    : folder_(std::move(folder)),
      take_(std::move(take)),
      watch_(run.world_size, std::chrono::seconds(run.settings.collective_timeout_s)) {}

void HangMonitor::look(const JobStatus& job) {
  if (HangWatch::Clock::now() >= next_look_) read();
  for (const auto& exit : job.exits) watch_.rank_ended(exit.rank);
}

void HangMonitor::read() {
  if (!reader_) {
    auto reader = trace::store::RunReader::open(folder_);
    if (!reader) return;
    reader_ = std::move(*reader);
  }
  const auto done = reader_->read_pulse([this](const auto& batch) {
    watch_.add(batch, HangWatch::Clock::now());
    if (take_) take_(batch);
  });
  // A file in the making; a damaged one is reported once the job has ended.
  pause_ = done ? HangWatch::Clock::duration{}
                : std::clamp<HangWatch::Clock::duration>(2 * pause_, kShortestPause, kLongestPause);
  next_look_ = HangWatch::Clock::now() + pause_;
}

}  // namespace shardlens::app::launch
