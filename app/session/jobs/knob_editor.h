// The settings of the next run while the user edits them. Plain values; interface thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/tuning/told_settings.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

class KnobEditor {
 public:
  explicit KnobEditor(const trace::job::Settings& defaults = {})
      : defaults_(defaults), baseline_(defaults) {
    replace(defaults);
  }

  // A text that is not a value of the knob changes nothing.
  trace::base::Result<void> set(const std::string& knob, const std::string& text);
  trace::base::Result<void> reset(const std::string& knob);  // to the baseline's value
  void reset_all();
  void replace(const trace::job::Settings& settings);
  // The same of settings that nobody chose: what is told stands in their place, see show_told().
  void begin_with(const trace::job::Settings& settings);
  // `ordinal`: "run 3"; "": they are the defaults. `name`: what that run is called.
  void set_baseline(const trace::job::Settings& settings, const std::string& ordinal,
                    const std::string& name);
  void compare_with_defaults() { set_baseline(defaults_, "", ""); }
  // While another program's run is on screen, what it tells of its settings stands in their place:
  // as the baseline of those knobs, and for the next run until they are set. Null: no such run is.
  // The knobs are as before then; what was set is kept for when that run is shown again. False:
  // nothing changes.
  bool show_told(const std::string& folder, const trace::tuning::ToldSettings* told);
  // Such a run is on screen, and what is set of the knob is set beside what that tells.
  bool is_told(const std::string& knob) const;

  // What was set so far, to be gone back to: also beside what other programs' runs tell.
  struct Kept {
    trace::job::Settings settings;
    std::map<std::string, std::map<const trace::job::Knob*, std::string>> set_beside;
  };
  Kept kept() const;
  void go_back_to(const Kept& kept);

  // `taken`: names of runs that exist or wait.
  ui::state::KnobDraft draft(const std::vector<std::string>& taken) const;
  const trace::job::Settings& next() const { return next_; }

 private:
  struct Told {
    std::string folder;
    trace::job::Settings settings;
    std::vector<const trace::job::Knob*> knobs;
  };

  std::string free_name(const std::vector<std::string>& taken) const;
  trace::job::Settings baseline() const { return with_told(baseline_); }
  trace::job::Settings with_told(trace::job::Settings settings) const;
  void hide_told();

  trace::job::Settings defaults_, next_, baseline_;  // baseline_: without what is told
  std::string baseline_ordinal_, baseline_name_;
  std::optional<Told> told_;
  trace::job::Settings aside_;  // while something is told: what its knobs were
  // By the run's folder: told knobs that were set otherwise while it was on screen.
  std::map<std::string, std::map<const trace::job::Knob*, std::string>> set_beside_;
};

}  // namespace shardlens::app::session
