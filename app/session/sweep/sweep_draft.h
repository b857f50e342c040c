// The card on which a sweep is made: what the user asks for, checked on a thread of its own as
// often as that or the settings change. Interface thread only; `on_change` comes from others.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "app/session/runs/ledger.h"
#include "app/session/worker/latest_worker.h"
#include "app/sweep/sweep.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// What a checked card is made of.
struct SweepQuestion {
  ui::state::SweepDraft draft;
  trace::job::Settings settings;  // of the next run
  std::filesystem::path like;     // a run that tells how long one takes; "": none
  std::string like_ordinal;       // "run 4"
  bool operator==(const SweepQuestion&) const = default;
};

// The points asked for, in the order of the axes. Errors (kUsage) as grid_of().
trace::base::Result<sweep::SweepPoints> points_of(const SweepQuestion& question);
// Slow: asks for devices, models and data.
ui::state::SweepCard checked_card(const SweepQuestion& question,
                                  const std::filesystem::path& runs_dir);
// What is proposed first: `knob`, or where that is "" one that was changed or matters.
ui::state::SweepDraft proposed_sweep(const ui::state::KnobDraft& knobs, const std::string& knob);

class SweepDrafting {
 public:
  SweepDrafting(std::filesystem::path runs_dir, std::function<void()> on_change);

  void open(ui::state::SweepDraft draft) { draft_ = std::move(draft); }
  void close() { draft_.reset(); }
  void edit(ui::state::SweepDraft draft);
  bool take_news();  // true: card() says something else than before, once

  // Null: closed.
  std::shared_ptr<const ui::state::SweepCard> card(const trace::job::Settings& settings,
                                                   LedgerRows rows);
  // What the card asks to start. Errors (kUsage): it is not checked yet, or cannot be run.
  trace::base::Result<sweep::SweepRequest> request(const trace::job::Settings& settings,
                                                   LedgerRows rows);

 private:
  SweepQuestion question(const trace::job::Settings& settings, LedgerRows rows) const;

  const std::filesystem::path runs_dir_;
  std::optional<ui::state::SweepDraft> draft_;
  std::optional<SweepQuestion> asked_;

  std::mutex mutex_;  // guards what follows
  std::optional<SweepQuestion> answered_;
  std::shared_ptr<const ui::state::SweepCard> card_;
  bool has_news_ = false;

  LatestWorker<SweepQuestion> checking_;  // last: stops first
};

}  // namespace shardlens::app::session
