#include "ui/present/memory_stack.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "trace/base/text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::model::MemoryCategory;

double total(const std::array<std::int64_t, trace::model::kMemoryCategoryCount>& bytes) {
  double sum = 0;
  for (const auto part : bytes) sum += static_cast<double>(part);
  return sum;
}

MemoryBar bar_of(const trace::analysis::RankFigures& rank, bool goes_on) {
  MemoryBar bar;
  bar.rank = rank.info.rank;
  bar.peak = static_cast<double>(rank.peak.total_bytes());
  bar.now = goes_on ? static_cast<double>(rank.now.allocated_bytes()) : 0;
  bar.estimate = total(rank.estimate);
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto bytes = static_cast<double>(rank.peak.bytes[static_cast<std::size_t>(i)]);
    if (bytes > 0) bar.parts.push_back({static_cast<MemoryCategory>(i), bytes});
    const auto own = static_cast<double>(rank.category_peaks[static_cast<std::size_t>(i)]);
    bar.category_peaks[static_cast<std::size_t>(i)] = std::max(own, bytes);
    const auto category = static_cast<MemoryCategory>(i);
    // What is outside is always known, or by nobody.
    const bool may_be_told = category != MemoryCategory::kOutside || own > 0;
    if (may_be_told && rank.peak.knows_a_purpose() && !rank.peak.knows(category)) {
      bar.untold.push_back(category);
    }
  }
  return bar;
}

}  // namespace

MemoryStacks memory_stacks(const std::vector<trace::analysis::RankFigures>& ranks, bool goes_on) {
  MemoryStacks out;
  for (const trace::analysis::RankFigures& rank : ranks) {
    if (rank.peak.total_bytes() <= 0) continue;
    out.bars.push_back(bar_of(rank, goes_on));
    const MemoryBar& bar = out.bars.back();
    out.top = std::max({out.top, bar.peak, bar.now, bar.estimate});
    if (bar.peak > out.bars[out.largest].peak) out.largest = out.bars.size() - 1;
  }
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    const bool is_shown = std::ranges::any_of(out.bars, [&](const MemoryBar& bar) {
      return bar.category_peaks[static_cast<std::size_t>(i)] > 0 ||
             std::ranges::find(bar.untold, category) != bar.untold.end();
    });
    if (is_shown) out.categories.push_back(category);
  }
  return out;
}

MemoryFold folded_bars(const MemoryStacks& stacks, std::size_t room) {
  MemoryFold fold;
  const std::size_t count = stacks.bars.size();
  fold.shown.resize(count);
  std::iota(fold.shown.begin(), fold.shown.end(), std::size_t{0});
  if (count <= room || count < 3) return fold;
  const auto peak_of = [&](std::size_t i) { return stacks.bars[i].peak; };
  std::ranges::stable_sort(fold.shown, std::greater<>(), peak_of);
  // One place is that of the rest.
  const std::size_t kept = std::max<std::size_t>(room, 2) - 1;
  fold.rest = count - kept;
  fold.most = peak_of(fold.shown[kept]);
  fold.least = peak_of(fold.shown.back());
  fold.shown.resize(kept);
  return fold;
}

std::string rest_text(const MemoryFold& fold) {
  const Quantity least = format_bytes(fold.least), most = format_bytes(fold.most);
  std::string text = "and " + format_integer(static_cast<std::int64_t>(fold.rest)) + " more ";
  if (least.text() == most.text()) return text + "at " + most.text();
  return text + "between " + (least.unit == most.unit ? least.value : least.text()) + " and " +
         most.text();
}

std::string_view memory_name(MemoryCategory category) {
  constexpr std::array<std::string_view, trace::model::kMemoryCategoryCount> kNames{
      "Parameters",  "Gathered parameters", "Gradients",     "Optimizer state",
      "Activations", "Communication",       "Other tensors", "Outside PyTorch"};
  return trace::base::enum_name<MemoryCategory::kOutside>(kNames, category);
}

std::string part_text(const MemoryBar& bar, MemoryCategory category) {
  if (std::ranges::find(bar.untold, category) != bar.untold.end()) return "not known";
  const auto part = std::ranges::find(bar.parts, category, &MemoryPart::category);
  return format_bytes(part == bar.parts.end() ? 0 : part->bytes).text();
}

std::string_view memory_definition(MemoryCategory category) {
  constexpr std::array<std::string_view, trace::model::kMemoryCategoryCount> kDefinitions{
      "The model's own tensors",
      "Full parameters, gathered from shards for use",
      "Gradients and shards of them; buckets, too, where gradients are views of them",
      "AdamW's two moments",
      "Kept by forward for backward, and what backward makes",
      "Buckets that gradients are no views of, gather and scatter buffers",
      "Tensors that belong to none of the other categories",
      "Not allocated through PyTorch: the device's context and libraries, or the process's heap"};
  return trace::base::enum_name<MemoryCategory::kOutside>(kDefinitions, category);
}

void add_predicted(MemoryStacks& stacks, const trace::tuning::Prediction& prediction) {
  if (prediction.changes.empty() && prediction.left_out.empty()) return;
  for (const auto& peak : prediction.peaks) {
    const auto bar = std::ranges::find(stacks.bars, peak.rank, &MemoryBar::rank);
    if (bar == stacks.bars.end()) continue;
    bar->predicted = bar->peak + static_cast<double>(peak.bytes - peak.recorded_bytes);
    stacks.top = std::max(stacks.top, bar->predicted);
  }
}

std::string predicted_note(const MemoryBar& bar) {
  if (bar.predicted <= 0) return "";
  const double more = bar.predicted - bar.peak;
  const std::string size = "Predicted next: " + format_bytes(bar.predicted).text();
  if (more == 0) return size + ", as now";
  return size + (more < 0 ? ", −" : ", +") + format_bytes(std::abs(more)).text();
}

std::string estimate_note(const MemoryBar& bar) {
  if (bar.estimate <= 0 || bar.peak <= 0) return "";
  const double relative = bar.estimate / bar.peak - 1;
  const std::string size = format_bytes(bar.estimate).text();
  if (std::abs(relative) < 0.005) return "Estimate " + size + ", as measured";
  return "Estimate " + size + ", " + format_percent(std::abs(relative)).text() +
         (relative > 0 ? " above" : " below");
}

}  // namespace shardlens::ui::present
