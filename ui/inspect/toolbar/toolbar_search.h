// The search field: a regular expression over all names, how often it is found, from hit to hit;
// below it the names that were found.
// Interface thread.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

class SearchField {
 public:
  // Searches exactly this name, as was asked elsewhere, and lists what is found.
  void list(const trace::timeline::NamePattern& name);
  // `from_ns`: where the next hit is looked for.
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view,
            std::int64_t from_ns, state::Commands& commands);
  void focus() { focus_ = true; }
  bool is_set() const { return !text_.empty(); }
  // Nothing is searched any more, whoever asked for it.
  void drop(state::Commands& commands);
  void forget_run() { *this = {}; }

 private:
  void clear();

  void follow(const state::InspectView& view);
  void edit(const kit::Theme& theme, const state::Rect& box, std::int64_t from_ns,
            state::Commands& commands);
  void send(state::Commands& commands);
  void draw_list(const kit::Theme& theme, const state::Rect& field, const state::InspectView& view,
                 std::int64_t from_ns, state::Commands& commands);
  bool is_answered(const state::InspectView& view) const;
  std::string count_text(const state::InspectView& view) const;

  std::string text_;
  bool is_plain_ = false;
  bool focus_ = false, active_ = false, list_hovered_ = false, list_open_ = false;
  std::deque<trace::timeline::NamePattern>
      sent_;  // so that late answers are not taken for new questions
  std::shared_ptr<const trace::timeline::NameHits> hits_;
};

}  // namespace shardlens::ui::inspect
