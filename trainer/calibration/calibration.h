// Measures what collectives cost between the ranks of a job, as the job would ask for them: through
// its communicator and into its recording. The training thread.
#pragma once

#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "profiler/recorder/recorder.h"
#include "trainer/calibration/measuring_plan.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::calibration {

struct CalibrationOptions {
  std::chrono::nanoseconds time{};  // about so long
  std::int64_t largest_bytes = kLargestBytes;
  std::uint64_t seed = 0;    // of the order
  int shard_group_size = 0;  // 0, 1 or all ranks: the job has no groups but all of its ranks
};

// Step 0 of the recording finds out which sizes fit into the time and warms everything up; steps
// from 1 on are what was measured. Each call comes after a barrier, so that no rank is late by more
// than that leaves.
class Calibration {
 public:
  static constexpr std::int64_t kFirstMeasuredStep = 1;
  static constexpr std::int64_t kLeastRounds = 3;

  // All ranks of `world` with the same options. Throws c10::Error where groups cannot be made.
  Calibration(comm::Communicator& world, profiler::recorder::Recorder& recorder,
              const CalibrationOptions& options, const std::atomic<int>& stop_signal);

  // `on_round` after each step. Returns whether a rank was asked to stop before the time was up.
  // Throws c10::Error if a collective fails.
  bool run(const std::function<void(std::int64_t steps)>& on_round);

 private:
  using Clock = std::chrono::steady_clock;

  void connect_groups(int shard_group_size);
  void find_what_fits();
  void measure(const std::vector<MeasuredCall>& calls);
  std::vector<std::chrono::nanoseconds> slowest_times(const std::vector<MeasuredCall>& calls);
  std::chrono::nanoseconds measure(const MeasuredCall& call);
  c10::intrusive_ptr<c10d::Work> launch(const MeasuredCall& call);
  // The largest on any rank.
  std::vector<std::int64_t> agree(const std::vector<std::int64_t>& values);
  void end_step();

  comm::Communicator& world_;
  profiler::recorder::Recorder& recorder_;
  const CalibrationOptions options_;
  const std::atomic<int>& stop_signal_;
  std::vector<std::unique_ptr<comm::Communicator>> own_groups_;
  std::vector<comm::Communicator*> groups_;  // all that the job has
  MeasuringPlan plan_;
  torch::Tensor whole_, part_;  // what is moved: zeros, whose sums stay zeros
};

}  // namespace shardlens::trainer::calibration
