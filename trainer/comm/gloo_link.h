// Runs the collectives of one process group on Gloo, one after another on a thread of its own, as a
// network link would: on a simulated link each takes at least as long as that link would need.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "profiler/recorder/recorder.h"
#include "trace/job/settings/grammars.h"
#include "trainer/comm/collective_description.h"
#include "trainer/comm/collective_executor.h"
#include "trainer/comm/link_work.h"
#include "trainer/comm/tagged_gloo.h"

namespace shardlens::trainer::comm {

// The simulated network link of one rank: all of its process groups that pass it send over it, so
// that what one transfers makes the others wait. Any thread.
class SharedLink {
 public:
  using Clock = std::chrono::steady_clock;  // one clock for all processes of a machine

  explicit SharedLink(const trace::job::SimulatedLink& link) : link_(link) {}

  // Takes the link for a collective that the last of `world_size` ranks started at `start`; returns
  // when it will have been transferred. Latency delays it but leaves the link to others. `share`:
  // see link_share().
  Clock::time_point transfer(Clock::time_point start, const CollectiveDescription& collective,
                             int world_size, std::int64_t share);

 private:
  trace::job::SimulatedLink link_;
  std::mutex mutex_;
  Clock::time_point free_at_{};
};

class GlooLink final : public CollectiveExecutor {
 public:
  // What of the simulated link this group has. Null: it passes none, and is as fast as Gloo is.
  struct Simulated {
    std::shared_ptr<SharedLink> link;
    std::int64_t share = 1;
  };
  // `lane_suffix` tells the lanes of several groups apart.
  GlooLink(c10::intrusive_ptr<TaggedGloo> gloo, Simulated simulated,
           std::chrono::milliseconds timeout, profiler::recorder::Recorder& recorder,
           const std::string& lane_suffix, int world_rank);
  ~GlooLink() override;

  c10::intrusive_ptr<c10d::Work> submit(CollectiveJob job) override;
  void close() override;

 private:
  using Clock = SharedLink::Clock;
  struct Queued {
    CollectiveJob job;
    c10::intrusive_ptr<LinkWork> work;
    LinkWork::LetGo let_go;
  };

  void run(std::stop_token stop);
  void carry_out(Queued& queued, const std::stop_token& stop);
  void transfer(const CollectiveJob& job, const std::stop_token& stop);
  Clock::time_point last_start_of_all_ranks(const CollectiveJob& job);
  std::string describe_failure(const CollectiveJob& job, const std::string& reason) const;

  c10::intrusive_ptr<TaggedGloo> gloo_;
  Simulated simulated_;
  std::chrono::milliseconds timeout_;
  profiler::recorder::Recorder& recorder_;
  int lane_;
  int world_rank_;
  std::string failure_;  // the first one; only the link's thread touches it

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Queued> queue_;
  bool busy_ = false;
  bool closed_ = false;
  std::jthread thread_;
};

}  // namespace shardlens::trainer::comm
