// Sweeps behind the window: the card on which one is made, the one that runs, the one that is
// looked at. Interface thread only; no call waits for a file, a process or another thread's work.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>

#include "app/session/sweep/sweep_draft.h"
#include "app/session/sweep/sweep_reader.h"
#include "app/session/sweep/sweep_runner.h"
#include "ui/state/commands.h"

namespace shardlens::app::session {

class SweepSession {
 public:
  // `queue` runs what a sweep starts, and outlives this.
  SweepSession(const std::filesystem::path& runs_dir, JobQueue& queue, Notice& notice,
               const std::function<void()>& on_change);

  void carry_out(const ui::state::CloseSweepCard&) { drafting_.close(); }
  void carry_out(const ui::state::EditSweep& command) { drafting_.edit(command.draft); }
  void carry_out(const ui::state::StopSweep&) { runner_.stop(); }
  void carry_out(const ui::state::ShowSweep& command);
  void carry_out(const ui::state::ResumeSweep& command);
  void open_card(const ui::state::KnobDraft& knobs, const std::string& knob);
  void open_search_card();
  // Error kUsage: what stands on the card cannot be run.
  trace::base::Result<void> start(const trace::job::Settings& settings, LedgerRows rows);

  bool is_running() const { return !runner_.state().name.empty(); }
  // Runs came, went or ended.
  void follow_library();
  // True: something is new.
  bool follow();
  // Null: nobody asked for sweeps yet. The same pointer until something changes.
  std::shared_ptr<const ui::state::SweepView> view(const trace::job::Settings& settings,
                                                   LedgerRows rows);

 private:
  void show(const std::string& name);
  bool is_elsewhere() const;
  void look_elsewhere();
  std::shared_ptr<const ui::state::ShownSweep> made_shown() const;

  SweepDrafting drafting_;
  SweepReader reader_;
  SweepRunner runner_;
  bool is_wanted_ = false;
  std::string asked_;  // the sweep that is looked at; "": the newest
  SweepRunState run_state_;
  std::uint64_t asked_since_ = 0;  // what was read before may be of when this window ran it
  ReadSweeps read_;
  std::chrono::steady_clock::time_point looked_elsewhere_{};
  std::shared_ptr<const ui::state::ShownSweep> shown_;  // of what follows
  std::tuple<std::uint64_t, std::uint64_t, std::string> shown_of_;
};

}  // namespace shardlens::app::session
