// The shapes of models by their setting: presets at once, folders once a worker has read them, so
// that the window waits for no disk. Interface thread only; `on_change` comes from the worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "app/session/worker/latest_worker.h"
#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::app::session {

class ModelLookup {
 public:
  explicit ModelLookup(std::function<void()> on_change = {});

  // None: it is being read. An answer that is some seconds old is given, and asked for again: the
  // folder may have been put right meanwhile.
  std::optional<trace::base::Result<trace::job::ModelShape>> find(const std::string& model);
  // Grows whenever find() would say something else than before.
  std::uint64_t version() const;
  // Until all that was asked for has been read.
  void wait_until_idle() { worker_.wait_until_idle(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    trace::base::Result<trace::job::ModelShape> shape;
    Clock::time_point read_at;
  };

  void read(const std::set<std::string>& models);

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, Known> known_;
  std::set<std::string> awaited_;
  std::uint64_t version_ = 0;

  LatestWorker<std::set<std::string>> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
