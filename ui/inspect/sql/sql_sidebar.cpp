#include "ui/inspect/sql/sql_sidebar.h"

#include <algorithm>
#include <array>

#include "ui/inspect/sql/sql_examples.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui {

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
bool sidebar_line(const Theme& theme, const std::string& name, const Rect& row, Face face, Rgb ink,
                  std::string_view text, std::string_view title, std::string_view body) {
  const Hit hit = hit_area(theme, name, row);
  if (hit.hovered) {
    fill(row, color(theme.colors().hover), theme.px(4));
    tooltip(theme, title, body);
  }
  text_in(theme, row.inset(theme.px(6), 0), face, ink, text);
  return hit.clicked;
}

}  // namespace

void SqlSidebar::draw_tables(const Theme& theme, const Rect& rect, const SqlConsole& console,
                             Pick& pick) {
  const Palette& p = theme.colors();
  const Panel panel(theme, "sql tables", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  float y = panel.body.y;
  const float height = theme.px(kSidebarRow);
  const auto next_row = [&](float indent) {
    const Rect row{rect.x + indent, y, rect.w - indent - theme.px(10), height};
    y += height;
    return row;
  };
  const auto is_seen = [&](const Rect& row) {
    return row.bottom() > rect.y && row.y < rect.bottom();
  };
  for (const SqlConsole::Table& table : console.tables) {
    Rect row = next_row(0);
    const bool open = unfolded_.contains(table.name);
    if (is_seen(row)) {
      const Rect fold = row.take_left(theme.px(18));
      if (icon_button(theme, "sql/fold " + table.name, fold, open ? Shape::kDown : Shape::kRight)) {
        if (open) {
          unfolded_.erase(table.name);
        } else {
          unfolded_.insert(table.name);
        }
      }
      std::string columns;
      for (const std::string& column : table.columns) {
        columns += (columns.empty() ? "" : ", ") + column;
      }
      if (sidebar_line(theme, "sql/table " + table.name, row, Face::kMono, p.text, table.name,
                       table.name, columns)) {
        pick.insert = table.name;
      }
    }
    if (!open) continue;
    for (const std::string& column : table.columns) {
      const Rect line = next_row(theme.px(24));
      if (!is_seen(line)) continue;
      if (sidebar_line(theme, "sql/column " + table.name + "." + column, line, Face::kMonoSmall,
                       p.text_secondary, column, column, "Click puts it at the cursor")) {
        pick.insert = column;
      }
    }
  }
  panel.content_height(y - panel.body.y);
}

SqlSidebar::Pick SqlSidebar::draw(const Theme& theme, const Rect& rect, const InspectView& view) {
  const Palette& p = theme.colors();
  const SqlConsole& console = view.sql;
  Pick pick;
  Rect area = rect;
  Rect head = area.take_top(theme.px(kToolsHeight));
  constexpr std::array<std::string_view, 3> kPages{"Tables", "Examples", "History"};
  choice_strip(theme, "sql/side", head, kPages, page_);
  if (page_ == 0) {
    draw_tables(theme, area, console, pick);
    return pick;
  }
  const bool examples = page_ == 1;
  const std::vector<SqlExample> taught =
      examples ? sql_examples(view.rows.get()) : std::vector<SqlExample>();
  const std::size_t count = examples ? taught.size() : console.history.size();
  if (count == 0) {
    text_in(theme, area.take_top(theme.px(kSidebarRow)), Face::kSmall, p.text_muted,
            examples ? "Nothing was recorded" : "Nothing was asked yet");
    return pick;
  }
  const Panel panel(theme, "sql queries", area,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  const float height = theme.px(kSidebarRow);
  for (std::size_t i = 0; i < count; ++i) {
    const Rect row{area.x, panel.body.y + height * static_cast<float>(i), area.w - theme.px(10),
                   height};
    if (row.bottom() <= area.y || row.y >= area.bottom()) continue;
    const std::string query = examples ? std::string(taught[i].query) : console.history[i];
    const std::string title =
        examples ? std::string(taught[i].title) : one_line(console.history[i]);
    if (sidebar_line(theme, "sql/query " + std::to_string(i), row,
                     examples ? Face::kBody : Face::kMonoSmall, p.text, title,
                     examples ? title : "Asked before", query)) {
      pick.replace = query;
    }
  }
  panel.content_height(height * static_cast<float>(count));
  return pick;
}

}  // namespace shardlens::ui
