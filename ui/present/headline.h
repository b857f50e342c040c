// The figures of the top bar, with what each means and where it comes from. Free of ImGui.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::ui::present {

struct Headline {
  std::string label;
  std::string value, unit;
  std::string note;        // "± 1.2", "18 % of step"
  std::string definition;  // for the tooltip
  std::string source;
  std::string brief_note = {};  // where there is no room for all
  bool goes_first = false;      // where there is too little room even so: before others' notes
};

// Step and exposed time lead; a figure without a value is left out.
std::vector<Headline> headlines(const trace::analysis::RunFigures& figures);

// "operators: …; memory: …" as a recorder writes it, part by part.
std::vector<std::string_view> source_parts(std::string_view sources);
// How this run's times and its memory were measured, in the words of what recorded them.
std::string time_source(const trace::analysis::RunFigures& figures);
std::string memory_source(const trace::analysis::RunFigures& figures);
// What MFU is measured against: "989 TFLOP/s per GPU (dense bf16, NVIDIA H100 datasheet)".
std::string peak_flops_text(const trace::analysis::RunFigures& figures);
// "2026-11-20 14:02:11 · 2 ranks on CPU · fp32"; brief: "14:02 · 2 ranks on CPU"
std::string run_circumstances(const trace::model::RunInfo& info, bool brief = false);
std::string run_title(const trace::model::RunInfo& info);  // "tiny · cap 60"

}  // namespace shardlens::ui::present
