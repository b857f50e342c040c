// The tab about the recording itself: devices, software, links, where each number comes from, what
// was lost, what it cost. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <vector>

#include "ui/inspect/tabs/recording_table.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/table/table_view.h"

namespace shardlens::ui::inspect {

class RecordingTab {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void update(const std::shared_ptr<const state::RunView>& view);
  void draw_tools(const kit::Theme& theme, state::Rect tools, state::Commands& commands);
  void draw_sources(const kit::Theme& theme, const state::Rect& rect) const;

  table::TableView view_;
  bool all_ranks_ = false;  // none folded, however many there are
  struct OfRun {
    std::shared_ptr<const state::RunView> view;
    std::shared_ptr<const present::Table> table;
    std::vector<SourceLine> sources;
  } run_;
};

}  // namespace shardlens::ui::inspect
