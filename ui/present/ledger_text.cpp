#include "ui/present/ledger_text.h"

#include "trace/job/schedule.h"
#include "ui/present/format.h"

namespace shardlens::ui {

std::string simulation_text(const trace::Settings& settings) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (settings.simulate_link != "off") add("link of " + trace::link_text(settings.simulate_link));
  if (settings.inject != "off") add("injected fault " + settings.inject);
  if (!settings.overlap_comm) add("communication kept from overlapping");
  if (settings.communication == trace::Communication::kNone)
    add("communication left out, so the loss is invalid");
  return text;
}

std::string scaling_title(const trace::Scaling& scaling) {
  return scaling.kind == trace::ScalingKind::kWeak ? "Weak scaling" : "Strong scaling";
}

std::string scaling_text(const trace::Scaling& scaling) {
  const bool weak = scaling.kind == trace::ScalingKind::kWeak;
  return std::to_string(scaling.from_ranks) + " → " + std::to_string(scaling.to_ranks) +
         " ranks: " + format_number(scaling.speedup) + " × the samples/s, efficiency " +
         format_percent(scaling.efficiency).text() +
         (weak ? " (same batch per rank" : " (same effective batch") +
         (scaling.on_same_cores ? ", all on the same CPU cores)" : ")");
}

std::string undo_text(std::size_t deleted) {
  return "Undo: " + std::to_string(deleted) + (deleted == 1 ? " run deleted" : " runs deleted");
}

}  // namespace shardlens::ui
