// What would help the run on screen: each finding with its gain, what it costs, where it shows, and
// a button that sets its knobs. Interface thread, inside a frame.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trace/advice/values/advice.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

class AdvicePanel {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);
  // The same without a frame around it, in columns.
  void draw_wide(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
                 state::Commands& commands);

  // What the user asked to be shown since the last call: its step is selected already.
  std::optional<trace::advice::Evidence> take_shown();

 private:
  // Returns the height of all rows, in so many columns.
  float draw_rows(const kit::Theme& theme, const state::Rect& body, std::size_t columns,
                  const state::Snapshot& snapshot, state::Commands& commands);
  void draw_buttons(const kit::Theme& theme, state::Rect area, const trace::advice::Advice& advice,
                    const state::Snapshot& snapshot, state::Commands& commands);
  void draw_row(const kit::Theme& theme, const state::Rect& rect,
                const trace::advice::Advice& advice, const state::Snapshot& snapshot,
                state::Commands& commands);
  void show(const trace::advice::Advice& advice, state::Commands& commands);

  struct {
    std::string folder;
    std::map<std::string_view, std::size_t> next;  // by rule: which evidence comes next
  } of_run_;
  std::optional<trace::advice::Evidence> shown_;
};

// "What would help", "What would help · 3"
std::string advice_title(const state::Snapshot& snapshot);

}  // namespace shardlens::ui::tune
