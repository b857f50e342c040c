// The settings of the next run while the user edits them. Plain values; interface thread only.
#pragma once

#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
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
  // `ordinal`: "run 3"; "": they are the defaults. `name`: what that run is called.
  void set_baseline(const trace::job::Settings& settings, const std::string& ordinal,
                    const std::string& name);
  void compare_with_defaults() { set_baseline(defaults_, "", ""); }

  // `taken`: names of runs that exist or wait.
  ui::state::KnobDraft draft(const std::vector<std::string>& taken) const;
  const trace::job::Settings& next() const { return next_; }

 private:
  std::string free_name(const std::vector<std::string>& taken) const;

  trace::job::Settings defaults_, next_, baseline_;
  std::string baseline_ordinal_, baseline_name_;
};

}  // namespace shardlens::app::session
