#include "app/session/jobs/trainer_status.h"

#include <condition_variable>
#include <exception>
#include <fstream>
#include <string>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/text.h"

namespace shardlens::app::session {

using namespace std::chrono_literals;
using ui::state::TrainerSetup;
using State = TrainerSetup::State;

namespace {

constexpr auto kAskEvery = 500ms;

TrainerSetup without_script(bool program_found) {
  if (program_found) return {};
  return {
      .state = State::kNotWanted,
      .message = "This is the viewer alone. Start ./run without --viewer to fetch the trainer."};
}

void take_line(TrainerSetup& setup, std::string_view key, std::string_view value) {
  if (key == "message") setup.message = value;
  if (key == "fraction") {
    const auto fraction = trace::base::number_from<double>(value);
    if (fraction && *fraction >= 0 && *fraction <= 1) setup.fraction = *fraction;
  }
  if (key != "state") return;
  if (value == "ready") setup.state = State::kReady;
  if (value == "failed") setup.state = State::kFailed;
}

}  // namespace

TrainerSetup parse_trainer_status(std::string_view text) {
  TrainerSetup setup;
  setup.state = State::kInstalling;
  for (const auto line : trace::base::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    take_line(setup, line.substr(0, equals), line.substr(equals + 1));
  }
  return setup;
}

TrainerStatus::TrainerStatus(std::filesystem::path file, std::function<bool()> program_found,
                             std::function<void()> on_change)
    : file_(std::move(file)),
      program_found_(std::move(program_found)),
      on_change_(std::move(on_change)),
      state_(look_or_say_why_not()) {
  if (!file_.empty()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
}

TrainerSetup TrainerStatus::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void TrainerStatus::retry() {
  if (file_.empty()) return;
  std::ofstream(file_.string() + ".retry") << "retry\n";
}

TrainerSetup TrainerStatus::look() const {
  if (file_.empty()) return without_script(program_found_());
  const auto text = trace::base::whole_text(file_);
  if (!text) {
    if (program_found_()) return {};
    return {.state = State::kInstalling, .message = "Setting up the trainer…"};
  }
  auto setup = parse_trainer_status(*text);
  if (setup.state == State::kReady && !program_found_()) {
    return {.state = State::kFailed,
            .message =
                "The trainer was built, but shardlens-rank is not beside the program. "
                "Run ./run again."};
  }
  return setup;
}

// Nobody else would catch what is thrown on this object's thread.
TrainerSetup TrainerStatus::look_or_say_why_not() const {
  try {
    return look();
  } catch (const std::exception& error) {
    return {
        .state = State::kFailed,
        .message = std::string("The state of the trainer cannot be found out: ") + error.what()};
  }
}

void TrainerStatus::work(const std::stop_token& stop) {
  std::mutex sleep;
  std::condition_variable_any wake;
  while (!stop.stop_requested() && state().state != State::kReady) {
    {
      std::unique_lock lock(sleep);
      wake.wait_for(lock, stop, kAskEvery, [] { return false; });
    }
    if (stop.stop_requested()) return;
    auto now = look_or_say_why_not();
    bool changed = false;
    {
      const std::lock_guard lock(mutex_);
      changed = state_ != now;
      state_ = std::move(now);
    }
    if (changed) on_change_();
  }
}

}  // namespace shardlens::app::session
