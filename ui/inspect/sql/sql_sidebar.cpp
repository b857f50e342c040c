#include "ui/inspect/sql/sql_sidebar.h"

#include <array>

#include "trace/base/text.h"
#include "ui/inspect/sql/sql_examples.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kSidebarRow = 22;

std::string one_line(std::string_view query) {
  std::string out;
  for (const char c : query) {
    const bool space = c == '\n' || c == ' ' || c == '\t';
    if (!space) out += c;
    if (space && !out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

// A line that can be clicked; the whole of it in a tooltip.
bool sidebar_line(const kit::Theme& theme, const std::string& name, const state::Rect& row,
                  kit::Face face, state::Rgb ink, std::string_view text, std::string_view title,
                  std::string_view body) {
  const kit::Hit hit = kit::hit_area(theme, name, row);
  if (hit.hovered) {
    kit::fill(row, kit::color(theme.colors().hover), theme.px(4));
    kit::tooltip(theme, title, body);
  }
  kit::text_in(theme, row.inset(theme.px(6), 0), face, ink, text);
  return hit.clicked;
}

}  // namespace

void SqlSidebar::draw_tables(const kit::Theme& theme, const state::Rect& rect,
                             const state::SqlConsole& console, Pick& pick) {
  const state::Palette& p = theme.colors();
  const kit::Panel panel(theme, "sql tables", rect, {.scrolls = true, .plain = true});
  float y = panel.body.y;
  const float height = theme.px(kSidebarRow);
  const auto next_row = [&](float indent) {
    const state::Rect row{rect.x + indent, y, rect.w - indent - theme.px(10), height};
    y += height;
    return row;
  };
  // And one row more on either side: the keyboard goes to what is drawn.
  const auto is_drawn = [&](const state::Rect& row) {
    return row.bottom() > rect.y - height && row.y < rect.bottom() + height;
  };
  for (const state::SqlConsole::Table& table : console.tables) {
    state::Rect row = next_row(0);
    const bool open = unfolded_.contains(table.name);
    if (is_drawn(row)) {
      const state::Rect fold = row.take_left(theme.px(18));
      if (kit::icon_button(theme, "sql/fold " + table.name, fold,
                           open ? kit::Shape::kDown : kit::Shape::kRight)) {
        if (open) {
          unfolded_.erase(table.name);
        } else {
          unfolded_.insert(table.name);
        }
      }
      const auto columns = trace::base::joined(table.columns);
      if (sidebar_line(theme, "sql/table " + table.name, row, kit::Face::kMono, p.text, table.name,
                       table.name, columns)) {
        pick.insert = table.name;
      }
    }
    if (!open) continue;
    for (const std::string& column : table.columns) {
      const state::Rect line = next_row(theme.px(24));
      if (!is_drawn(line)) continue;
      if (sidebar_line(theme, "sql/column " + table.name + "." + column, line,
                       kit::Face::kMonoSmall, p.text_secondary, column, column,
                       "Click puts it at the cursor")) {
        pick.insert = column;
      }
    }
  }
  panel.content_height(y - panel.body.y);
}

SqlSidebar::Pick SqlSidebar::draw(const kit::Theme& theme, const state::Rect& rect,
                                  const state::InspectView& view) {
  const state::Palette& p = theme.colors();
  const state::SqlConsole& console = view.sql;
  Pick pick;
  state::Rect area = rect;
  state::Rect head = area.take_top(theme.px(table::kToolsHeight));
  constexpr std::array<std::string_view, 3> kPages{"Tables", "Examples", "History"};
  table::choice_strip(theme, "sql/side", head, kPages, page_);
  if (page_ == 0) {
    draw_tables(theme, area, console, pick);
    return pick;
  }
  const bool examples = page_ == 1;
  const std::vector<SqlExample> taught =
      examples ? sql_examples(view.rows.get()) : std::vector<SqlExample>();
  const std::size_t count = examples ? taught.size() : console.history.size();
  if (count == 0) {
    kit::note_in(theme, area.take_top(theme.px(kSidebarRow)),
                 examples ? "Nothing was recorded" : "Nothing was asked yet");
    return pick;
  }
  const kit::Panel panel(theme, "sql queries", area, {.scrolls = true, .plain = true});
  const float height = theme.px(kSidebarRow);
  const auto [first, last] = kit::rows_to_draw(area, panel.body.y, height, count);
  for (std::size_t i = first; i < last; ++i) {
    const state::Rect row{area.x, panel.body.y + height * static_cast<float>(i),
                          area.w - theme.px(10), height};
    const std::string query = examples ? std::string(taught[i].query) : console.history[i];
    const std::string title =
        examples ? std::string(taught[i].title) : one_line(console.history[i]);
    if (sidebar_line(theme, "sql/query " + std::to_string(i), row,
                     examples ? kit::Face::kBody : kit::Face::kMonoSmall, p.text, title,
                     examples ? title : "Asked before", query)) {
      pick.replace = query;
    }
  }
  panel.content_height(height * static_cast<float>(count));
  return pick;
}

}  // namespace shardlens::ui::inspect
