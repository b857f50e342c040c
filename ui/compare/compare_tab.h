// What every tab of the Compare workspace is to it. Interface thread, inside a frame.
#pragma once

#include <string_view>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::compare {

class CompareTab {
 public:
  CompareTab() = default;
  CompareTab(const CompareTab&) = delete;
  CompareTab& operator=(const CompareTab&) = delete;
  virtual ~CompareTab() = default;

  virtual std::string_view title() const = 0;
  virtual std::string_view explanation() const = 0;  // in its tooltip
  // `keys`: the keyboard is the tab's.
  virtual void draw(const kit::Theme& theme, const state::Rect& rect,
                    const state::Snapshot& snapshot, bool keys, state::Commands& commands) = 0;
};

}  // namespace shardlens::ui::compare
