// How far the set-up script is with the trainer, read from the small file it writes. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// Lines `state=installing|ready|failed`, `message=…`, `fraction=0…1`; others are ignored. A text
// without a known state counts as installing: it is only just being written.
ui::state::TrainerSetup parse_trainer_status(std::string_view text);

class TrainerStatus {
 public:
  // `on_change` comes from another thread and must not throw.
  // `file`: "" when no script is at work; then the trainer is ready if `program_found`, which is
  // asked again after the script says so.
  TrainerStatus(std::filesystem::path file, std::function<bool()> program_found,
                std::function<void()> on_change);
  TrainerStatus(const TrainerStatus&) = delete;
  TrainerStatus& operator=(const TrainerStatus&) = delete;

  ui::state::TrainerSetup state() const;
  // Asks the script to try again, by touching "<file>.retry".
  void retry();

 private:
  void work(const std::stop_token& stop);
  ui::state::TrainerSetup look() const;
  ui::state::TrainerSetup look_or_say_why_not() const;

  const std::filesystem::path file_;
  const std::function<bool()> program_found_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;  // guards the state
  ui::state::TrainerSetup state_;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
