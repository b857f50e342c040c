#include "ui/present/tables/ledger_text.h"

#include <algorithm>
#include <utility>

#include "trace/base/text.h"
#include "trace/job/settings/schedule.h"
#include "trace/job/shape/strategy.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

std::string simulation_text(const trace::job::Settings& settings) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (settings.simulate_link != "off")
    add("link of " + trace::job::link_text(settings.simulate_link));
  if (settings.inject != "off") add("injected fault " + settings.inject);
  if (trace::job::reduces_after_backward(settings)) add("communication kept from overlapping");
  if (settings.communication == trace::job::Communication::kNone)
    add("communication left out, so the loss is invalid");
  return text;
}

std::string scaling_title(const trace::analysis::Scaling& scaling) {
  return scaling.kind == trace::analysis::ScalingKind::kWeak ? "Weak scaling" : "Strong scaling";
}

std::string scaling_text(const trace::analysis::Scaling& scaling) {
  const bool weak = scaling.kind == trace::analysis::ScalingKind::kWeak;
  return std::to_string(scaling.from_ranks) + " → " + std::to_string(scaling.to_ranks) +
         " ranks: " + format_number(scaling.speedup) + " × the samples/s, efficiency " +
         format_percent(scaling.efficiency).text() +
         (weak ? " (same batch per rank" : " (same effective batch") +
         (scaling.on_same_cores ? ", all on the same CPU cores)" : ")");
}

std::vector<std::string> tags_from_text(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(", \t\n"), text.size());
    std::string tag(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!tag.empty() && std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  }
  return tags;
}

std::string tags_text(const std::vector<std::string>& tags) {
  return trace::base::joined(tags, " ");
}

std::string undo_text(std::size_t deleted) {
  return "Undo: " + std::to_string(deleted) + (deleted == 1 ? " run deleted" : " runs deleted");
}

}  // namespace shardlens::ui::present
