// A job without processes, which tests end when they like. Any thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/session/jobs/job_queue.h"

namespace shardlens::app::session {

// What the test and the queue both hold of one job.
struct FakeJobControl {
  launch::JobRequest request;
  std::filesystem::path folder;
  std::atomic<bool> ends_when_stopped = true;
  std::atomic<bool> stop_requested = false;
  std::atomic<bool> killed = false;  // by kill_now(), or since nobody waited for its end
  std::atomic<bool> ended = false;
  std::atomic<bool> failed = false;
  std::atomic<bool> loses_checkpoint = false;  // when it is stopped
  std::string abort_reason;                    // the queue's own
  std::atomic<int> looked_at = 0;
  std::function<void()> on_news;

  void end() {
    ended = true;
    on_news();
  }
};

class FakeJobs {
 public:
  StartJob starter();
  std::vector<std::shared_ptr<FakeJobControl>> started() const;
  // The next start gives this error.
  void refuse(const std::string& message);
  // Where the next job says that it records.
  void record_in(const std::filesystem::path& folder);

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<std::shared_ptr<FakeJobControl>> jobs;
    std::string refusal;
    std::filesystem::path folder = "/nowhere";
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace shardlens::app::session
