#include "ui/present/estimate_text.h"

#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

// Formulas are written in ASCII, as the command line prints them.
std::string with_signs(std::string_view formula) {
  constexpr std::string_view kTimes = " x ";
  std::string text(formula);
  for (auto at = text.find(kTimes); at != std::string::npos; at = text.find(kTimes, at + 1)) {
    text.replace(at, kTimes.size(), " × ");
  }
  return text;
}

std::string term_name(const trace::predict::TrafficTerm& term) {
  return term.what + " (" + std::string(trace::model::to_string(term.function)) + ")";
}

std::vector<FormulaLine> nothing_sent() {
  return {{"Nothing", "0", "A single rank has nobody to send to"}};
}

}  // namespace

std::string bytes_or_zero(std::int64_t bytes) {
  return bytes == 0 ? "0" : format_bytes(static_cast<double>(bytes)).text();
}

std::vector<FormulaLine> memory_lines(const trace::predict::MemoryPrediction& memory) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::MemoryTerm& term : memory.terms) {
    lines.push_back({std::string(memory_name(term.category)), bytes_or_zero(term.bytes),
                     with_signs(term.formula), term.category});
  }
  return lines;
}

std::vector<FormulaLine> memory_lines(const trace::predict::MemoryPrediction& memory,
                                      trace::model::MemoryCategory category) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::MemoryTerm& term : memory.terms) {
    if (term.category != category) continue;
    lines.push_back(
        {std::string(memory_name(category)), bytes_or_zero(term.bytes), with_signs(term.formula)});
  }
  if (lines.empty()) {
    lines.push_back({std::string(memory_name(category)), "0",
                     "None of it is held at the peak, in " + memory.peak_place, category});
  }
  return lines;
}

std::vector<FormulaLine> traffic_lines(const trace::predict::TrafficPrediction& traffic) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::TrafficTerm& term : traffic.terms) {
    std::string formula = with_signs(term.formula);
    if (term.executed_bytes != term.bytes) {
      formula += "; the backend runs it otherwise and sends " + bytes_or_zero(term.executed_bytes);
    }
    lines.push_back({term_name(term), bytes_or_zero(term.bytes), formula});
  }
  return lines.empty() ? nothing_sent() : lines;
}

std::vector<FormulaLine> between_nodes_lines(const trace::predict::TrafficPrediction& traffic) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::TrafficTerm& term : traffic.terms) {
    const std::string share = term.between_nodes == 0
                                  ? "stays within a machine"
                                  : "of " + bytes_or_zero(term.bytes) +
                                        ": the part of the ring that crosses machines, " +
                                        format_percent(static_cast<double>(term.between_nodes) /
                                                       static_cast<double>(term.bytes))
                                            .text();
    lines.push_back({term_name(term), bytes_or_zero(term.between_nodes), share});
  }
  return lines.empty() ? nothing_sent() : lines;
}

FormulaLine host_line(const trace::predict::MemoryPrediction& memory) {
  return {"Host memory of a rank", bytes_or_zero(memory.host_bytes),
          memory.host_bytes > 0 ? with_signs(memory.host_formula) : "Nothing is offloaded"};
}

std::vector<MemoryPart> memory_parts(const trace::predict::MemoryPrediction& memory) {
  std::vector<MemoryPart> parts;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto bytes = static_cast<double>(memory.at_peak[static_cast<std::size_t>(i)]);
    if (bytes > 0) parts.push_back({static_cast<trace::model::MemoryCategory>(i), bytes});
  }
  return parts;
}

std::string parameters_text(const trace::job::TrainedShare& parameters) {
  const std::string count = format_count(static_cast<double>(parameters.all)).text();
  if (parameters.trained == parameters.all) return count + " parameters, all trained";
  const double share =
      static_cast<double>(parameters.trained) / static_cast<double>(parameters.all);
  return count + " parameters, " + format_percent(share).text() + " trained";
}

std::string shortage_text(const trace::predict::StrategyPlan& plan, std::int64_t usable_bytes) {
  if (usable_bytes <= 0 || !plan.refused.empty() || plan.spare_bytes >= 0) return "";
  return "Short by " + bytes_or_zero(-plan.spare_bytes) + " of " + bytes_or_zero(usable_bytes);
}

}  // namespace shardlens::ui::present
