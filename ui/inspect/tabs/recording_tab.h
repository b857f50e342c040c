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

namespace shardlens::ui {

class RecordingTab {
 public:
  void draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot, Commands& commands);
  void forget_run() { run_ = {}; }

 private:
  void draw_tools(const Theme& theme, Rect tools, Commands& commands);
  void draw_sources(const Theme& theme, const Rect& rect) const;

  TableView view_;
  bool all_ranks_ = false;  // none folded, however many there are
  struct OfRun {
    std::shared_ptr<const RunView> view;
    std::shared_ptr<const Table> table;
    std::vector<SourceLine> sources;
  } run_;
};

}  // namespace shardlens::ui
