// All predictions so far beside what the runs took. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/tune/prediction_history.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

class PredictionsPanel {
 public:
  // A click on a point shows its run.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);

 private:
  void draw_words(const kit::Theme& theme, state::Rect rect) const;
  void explain(const kit::Theme& theme, std::size_t point) const;
  void pick(const kit::Theme& theme, const std::optional<std::size_t>& point, bool clicked,
            state::Commands& commands) const;

  // Made when the ledger changes, not in each frame.
  std::shared_ptr<const state::Ledger> ledger_;
  present::PredictionHistory history_;
  std::vector<std::string> words_;
  std::optional<present::HistoryChart> chart_;
};

}  // namespace shardlens::ui::tune
