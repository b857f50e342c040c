// The search field: a regular expression over all names, how often it is found, from hit to hit.
// Interface thread.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui {

class SearchField {
 public:
  // Searches exactly this name, as was asked elsewhere, and lists what is found.
  void list(const trace::NamePattern& name);
  // `from_ns`: where the next hit is looked for.
  void draw(const Theme& theme, const Rect& rect, const InspectView& view, std::int64_t from_ns,
            Commands& commands);
  void focus() { focus_ = true; }
  bool is_set() const { return !text_.empty(); }
  // Nothing is searched any more, whoever asked for it.
  void drop(Commands& commands);
  void forget_run() { *this = {}; }

 private:
  void clear();

  void follow(const InspectView& view);
  void edit(const Theme& theme, const Rect& box, std::int64_t from_ns, Commands& commands);
  void send(Commands& commands);
  void draw_list(const Theme& theme, const Rect& field, const InspectView& view,
                 std::int64_t from_ns, Commands& commands);
  bool is_answered(const InspectView& view) const;
  std::string count_text(const InspectView& view) const;

  std::string text_;
  bool is_plain_ = false;
  bool focus_ = false, active_ = false, list_hovered_ = false, list_open_ = false;
  std::deque<trace::NamePattern> sent_;  // so that late answers are not taken for new questions
  std::shared_ptr<const trace::NameHits> hits_;
};

}  // namespace shardlens::ui
