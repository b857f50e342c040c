// The ledger of all runs in the library. Interface thread, inside a frame.
#pragma once

#include <memory>
#include <string>

#include "ui/commands.h"
#include "ui/ledger_table.h"
#include "ui/snapshot.h"
#include "ui/theme.h"

namespace shardlens::ui {

class LedgerPanel {
 public:
  void draw(const Look& look, const Rect& rect, const Snapshot& snapshot, Commands& commands);

 private:
  void update(const std::shared_ptr<const Ledger>& ledger, float width);
  void draw_rows(const Look& look, const Rect& rest, const Snapshot& snapshot,
                 Commands& commands) const;

  // Made when the ledger or the width changes, not in each frame.
  std::shared_ptr<const Ledger> ledger_;
  float width_ = 0;
  LedgerTable table_;
  std::string note_;
};

}  // namespace shardlens::ui
