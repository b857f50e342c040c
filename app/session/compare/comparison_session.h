// The runs that are compared in the window: reads them on a thread of its own and publishes what
// differs. Interface thread only; `on_change` comes from others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "app/session/compare/comparison_reader.h"
#include "app/session/worker/latest_worker.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

class ComparisonSession {
 public:
  explicit ComparisonSession(std::function<void()> on_change);

  void choose(ComparisonQuestion question);
  // The library has changed: so many of its runs have ended, and these are what the chosen ones are
  // called now. Reads again what may be different.
  void follow_library(std::vector<ComparisonQuestion::Run> runs, std::size_t ended_runs);
  void follow_library(LedgerRows rows);

  const std::vector<ComparisonQuestion::Run>& runs() const { return question_.runs; }
  std::vector<std::string> folders() const;
  // Null: none was chosen. The same pointer until something changes.
  std::shared_ptr<const ui::state::ComparisonView> view() const;
  void wait_until_idle() { worker_.wait_until_idle(); }

 private:
  void publish(ui::state::ComparisonView view, const std::function<bool()>& wanted);

  const std::function<void()> on_change_;
  ComparisonQuestion question_;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const ui::state::ComparisonView> view_;

  ComparisonReader reader_;                  // the worker's own
  LatestWorker<ComparisonQuestion> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
