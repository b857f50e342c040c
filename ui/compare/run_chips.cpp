#include "ui/compare/run_chips.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui::compare {

namespace {

constexpr float kAddMenuWidth = 320, kAddMenuRow = 26;
constexpr std::size_t kMostOffered = 100;

std::vector<std::string> compared_folders(const state::ComparisonView* view) {
  std::vector<std::string> folders;
  if (view == nullptr) return folders;
  for (const auto& run : view->runs) folders.push_back(run.folder);
  return folders;
}

// Those of the ledger that are not compared yet, in its order.
std::vector<const state::LedgerRow*> addable_runs(const std::vector<std::string>& compared,
                                                  const state::Ledger* ledger) {
  std::vector<const state::LedgerRow*> rows;
  if (ledger == nullptr) return rows;
  for (const state::LedgerRow& row : ledger->rows) {
    if (std::ranges::find(compared, row.folder) == compared.end()) rows.push_back(&row);
  }
  return rows;
}

// Of a run that is compared, or of one of the ledger.
std::string chip_text(const auto& run) {
  return run.ordinal.empty() ? run.name : run.ordinal + " · " + run.name;
}

// Where both do not fit, the name alone. Names that are compared often begin alike: where one is
// too long, its end is shown.
std::string chip_text(const kit::Theme& theme, const state::ComparedRun& run, float width) {
  const auto fits = [&](const std::string& text) {
    return kit::text_width(theme, kit::Face::kMedium, text) <= width;
  };
  if (fits(chip_text(run))) return chip_text(run);
  if (fits(run.name)) return run.name;
  const std::string ordinal = run.ordinal.empty() ? "" : run.ordinal + " · ";
  const std::string cut = present::elide_start(run.name, width, [&](std::string_view name) {
    return kit::text_width(theme, kit::Face::kMedium, ordinal + std::string(name));
  });
  return cut.empty() ? chip_text(run) : ordinal + cut;
}

// Returns whether what is compared has changed.
bool draw_chip(const kit::Theme& theme, const state::Rect& box, const state::ComparisonView& view,
               std::size_t index, std::vector<std::string>& folders) {
  const state::Palette& p = theme.colors();
  const state::ComparedRun& run = view.runs[index];
  state::Rect rest = box;
  const state::Rect cross = rest.take_right(theme.px(24));
  const kit::Hit hit = kit::hit_area(theme, "compare/base/" + run.folder, rest);
  kit::fill(box, kit::color(hit.hovered ? p.hover : p.field), theme.px(5));
  kit::outline(box, kit::color(p.field_edge), theme.px(5));
  draw_run_letter(theme, rest.take_left(theme.px(24)), index);
  if (index == 0) {
    const float width = kit::text_width(theme, kit::Face::kSmall, "base") + theme.px(4);
    kit::label_in(theme, rest.take_right(width, theme.px(6)), kit::Face::kSmall, p.text_muted,
                  "base");
  }
  kit::text_in(theme, rest, kit::Face::kMedium, run.problem.empty() ? p.text : p.danger,
               chip_text(theme, run, rest.w));
  if (hit.hovered) {
    const std::string text = index == 0 ? "What the others are compared with"
                                        : "Click compares the others with this one";
    kit::tooltip(theme, chip_text(run), run.problem.empty() ? text : run.problem, run.folder);
  }
  if (kit::icon_button(theme, "compare/remove/" + run.folder, cross.inset(theme.px(2), 0),
                       kit::Shape::kCross)) {
    folders.erase(folders.begin() + static_cast<std::ptrdiff_t>(index));
    return true;
  }
  if (!hit.clicked || index == 0) return false;
  std::rotate(folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(index),
              folders.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  return true;
}

// A run that may be added; true where it was chosen. Names of a sweep begin alike.
bool draw_offer(const kit::Theme& theme, const state::Rect& line, const state::LedgerRow& run) {
  const kit::Hit hit = kit::hit_area(theme, "compare/add/" + run.folder, line);
  if (hit.hovered) kit::fill(line, kit::color(theme.colors().hover), theme.px(4));
  const state::Rect words = line.inset(theme.px(8), 0);
  kit::text_in(theme, words, kit::Face::kBody, theme.colors().text,
               kit::fitting_name(theme, kit::Face::kBody, chip_text(run), words.w));
  return hit.clicked;
}

bool draw_add_menu(const kit::Theme& theme, state::Rect& row, const state::Ledger* ledger,
                   std::vector<std::string>& folders) {
  if (folders.size() >= trace::analysis::kMostCompared) return false;
  auto offered = addable_runs(folders, ledger);
  if (offered.empty()) return false;
  const std::string label = folders.empty() ? "Choose a run" : "Add a run";
  const float width = kit::menu_button_width(theme, label);
  if (width > row.w) return false;
  state::Rect button = row.take_left(width, theme.px(8));
  button = button.inset(0, (button.h - theme.px(26)) / 2);
  if (kit::draw_menu_button(theme, "compare/add", button, label,
                            "Another run of the library, up to six; several at once: select them "
                            "in the ledger of Tune and press Compare")) {
    ImGui::OpenPopup("##compare add");
  }
  const std::size_t more = offered.size() - std::min(offered.size(), kMostOffered);
  offered.resize(offered.size() - more);
  const auto lines = static_cast<float>(offered.size() + (more > 0 ? 1 : 0));
  const kit::MenuScope menu(theme, "##compare add", button, theme.px(kAddMenuWidth),
                            theme.px(kAddMenuRow) * lines + theme.px(12));
  if (!menu.is_open()) return false;
  state::Rect area = menu.area;
  for (const state::LedgerRow* run : offered) {
    if (!draw_offer(theme, area.take_top(theme.px(kAddMenuRow)), *run)) continue;
    folders.push_back(run->folder);
    ImGui::CloseCurrentPopup();
    return true;
  }
  if (more > 0) {
    kit::text_in(theme, area.inset(theme.px(8), 0), kit::Face::kSmall, theme.colors().text_muted,
                 "and " + std::to_string(more) + " more in the ledger of Tune");
  }
  return false;
}

}  // namespace

std::string run_letter(std::size_t index) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(index % 26)));
}

void draw_run_letter(const kit::Theme& theme, const state::Rect& box, std::size_t index) {
  const state::Palette& p = theme.colors();
  const float side = std::min(theme.px(18), box.h);
  const state::Rect mark{std::round(box.center_x() - side / 2),
                         std::round(box.center_y() - side / 2), side, side};
  kit::fill(mark, kit::color(index == 0 ? p.text_secondary : p.panel), theme.px(4));
  kit::outline(mark, kit::color(p.text_secondary), theme.px(4));
  kit::text_in(theme, mark, kit::Face::kSmall, index == 0 ? p.panel : p.text, run_letter(index),
               kit::Align::kCenter);
}

void draw_run_chips(const kit::Theme& theme, state::Rect row, const state::ComparisonView* view,
                    const state::Ledger* ledger, state::Commands& commands) {
  std::vector<std::string> folders = compared_folders(view);
  bool has_changed = false;
  const auto count = static_cast<float>(std::max<std::size_t>(folders.size(), 1));
  const float most = std::floor((row.w - theme.px(130)) / count) - theme.px(8);
  const std::size_t chips = folders.size();
  for (std::size_t i = 0; i < chips && !has_changed; ++i) {
    const float text = kit::text_width(theme, kit::Face::kMedium, chip_text(view->runs[i]));
    const float wanted = text + theme.px(i == 0 ? 92 : 60);
    const float width = std::min(wanted, most);
    const state::Rect box = row.take_left(width, theme.px(8)).inset(0, (row.h - theme.px(26)) / 2);
    has_changed = draw_chip(theme, box, *view, i, folders);
  }
  has_changed = draw_add_menu(theme, row, ledger, folders) || has_changed;
  if (!has_changed) return;
  commands.push_back(
      state::CompareRuns{.folders = std::move(folders), .step = view != nullptr ? view->step : -1});
}

}  // namespace shardlens::ui::compare
