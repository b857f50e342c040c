#include "ui/present/tune/changed_list.h"

#include <span>

#include "trace/base/text.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::present {

namespace {

std::string with_more(const std::string& line, std::size_t more) {
  return more == 0 ? line : line + " +" + std::to_string(more) + " more";
}

}  // namespace

std::vector<std::string> changed_items(const trace::tuning::Prediction& prediction) {
  std::vector<std::string> items;
  for (const auto& change : prediction.changes) {
    items.push_back(change_text(change) + (change.is_implied ? " (follows)" : ""));
  }
  for (const auto* knob : prediction.left_out) {
    items.push_back("without " + std::string(knob->name) + ": effect not known");
  }
  for (const auto* knob : prediction.without_effect) {
    items.push_back(std::string(knob->name) + ": no effect on the step");
  }
  return items;
}

std::vector<std::string> folded_lines(const std::vector<std::string>& items, std::size_t most,
                                      const std::function<bool(const std::string&)>& fits) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t behind = items.size() - i - 1;
    const std::string joined = lines.empty() ? items[i] : lines.back() + " · " + items[i];
    const bool is_last_line = lines.size() == most;
    const std::string all_left = trace::base::joined(
        std::span(items).subspan(i + 1), "", [](const std::string& item) { return " · " + item; });
    if (is_last_line && fits(joined + all_left)) {
      lines.back() = joined + all_left;
      break;
    }
    if (!lines.empty() && fits(is_last_line ? with_more(joined, behind) : joined)) {
      lines.back() = joined;
    } else if (lines.size() < most) {
      lines.push_back(items[i]);
    } else {
      lines.back() = with_more(lines.back(), behind + 1);
      break;
    }
  }
  return lines;
}

}  // namespace shardlens::ui::present
