// The panel at the window's foot: ledger, predictions so far, log, and what has no room elsewhere:
// memory, learning, advice. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/runs/ledger_panel.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/tune/advice_panel.h"
#include "ui/tune/prediction/predictions_panel.h"

namespace shardlens::ui::tune {

class DockPanel {
 public:
  enum class Tab : std::uint8_t { kRuns, kPredictions, kLog, kMemory, kLearning, kAdvice };

  struct Input {
    bool folded = false;
    bool offers_memory = false;
    bool offers_learning = false;
    bool offers_advice = false;

    bool offers(Tab tab) const {
      if (tab == Tab::kMemory) return offers_memory;
      if (tab == Tab::kAdvice) return offers_advice;
      return tab != Tab::kLearning || offers_learning;
    }
  };
  // `advice`: the workspace's, which is here where it has no room elsewhere. Returns true when the
  // user folded or unfolded the dock.
  bool draw(const kit::Theme& theme, const state::Rect& rect, const Input& input,
            const state::Snapshot& snapshot, AdvicePanel& advice, state::Commands& commands);
  void show(Tab tab) { tab_ = tab; }

 private:
  bool draw_tabs(const kit::Theme& theme, state::Rect header, const Input& input,
                 const state::Snapshot& snapshot, state::Commands& commands);

  Tab tab_ = Tab::kRuns;
  runs::LedgerPanel ledger_;
  PredictionsPanel predictions_;
};

}  // namespace shardlens::ui::tune
