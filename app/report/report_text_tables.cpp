#include <algorithm>
#include <vector>

#include "app/report/report_text.h"
#include "app/report/text_table.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/text.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"

namespace shardlens::app::report {
namespace {

std::string bandwidth(double bytes_per_s) {
  return or_unknown(bytes_per_s > 0, ui::present::format_bandwidth(bytes_per_s).text());
}

}  // namespace

std::string nonfinite_text(const std::vector<trace::analysis::StepFigures>& steps) {
  const auto* first = trace::analysis::first_nonfinite(steps);
  if (first == nullptr) return "";
  const auto count = std::ranges::count_if(steps, &trace::analysis::StepFigures::nonfinite);
  return "loss or gradient norm not finite in " + ui::present::steps_text(count) +
         ", first in step " + std::to_string(first->index) + " on rank " +
         std::to_string(first->nonfinite_rank);
}

std::string other_functions_text(const trace::analysis::RunFigures& figures) {
  std::vector<std::string> pairs;
  for (const auto& c : figures.collectives) {
    if (c.executed == c.function || c.executed == trace::model::CollectiveFunction::kOther)
      continue;
    std::string pair = std::string(trace::model::to_string(c.function)) + " ran as " +
                       std::string(trace::model::to_string(c.executed));
    if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(std::move(pair));
  }
  return (pairs.empty() ? "" : "; ") + trace::base::joined(pairs);
}

std::string collectives_text(const trace::analysis::RunFigures& figures) {
  std::vector<TextTable::Column> columns = {{"function"},
                                            {"for", Align::kLeft, 44},
                                            {"bytes", Align::kRight},
                                            {"count", Align::kRight},
                                            {"median", Align::kRight},
                                            {"wait", Align::kRight},
                                            {"transfer", Align::kRight},
                                            {"algbw", Align::kRight},
                                            {"busbw", Align::kRight},
                                            {"exposed/step", Align::kRight}};
  const bool has_choices =
      std::ranges::any_of(figures.collectives, [](const auto& c) { return !c.algorithm.empty(); });
  if (has_choices) columns.push_back({"chosen by NCCL"});
  TextTable table(std::move(columns));
  const bool measured_detail = trace::analysis::has_measured_detail(figures.steps);
  for (const auto& c : figures.collectives) {
    std::string function(trace::model::to_string(c.function));
    if (c.executed != c.function)
      function += " as " + std::string(trace::model::to_string(c.executed));
    std::vector<std::string> row = {
        function,
        c.tag,
        or_unknown(trace::model::has_bytes(c), size_text(static_cast<double>(c.bytes))),
        ui::present::format_integer(c.count),
        or_unknown(c.median_ns >= 0, time_text(c.median_ns)),
        or_unknown(c.matched > 0, time_text(c.wait_ns)),
        or_unknown(c.matched > 0, time_text(c.transfer_ns)),
        bandwidth(c.algbw_bytes_per_s),
        bandwidth(c.busbw_bytes_per_s),
        or_unknown(measured_detail, time_text(c.exposed_ns))};
    if (has_choices) row.push_back(c.algorithm + (c.protocol.empty() ? "" : " " + c.protocol));
    table.add_row(std::move(row));
  }
  if (table.empty()) return "";
  return "\nCollectives: median duration, mean wait for the last rank, mean transfer; algbw and "
         "busbw of the median transfer\n" +
         table.text();
}

std::string units_text(const trace::analysis::RunFigures& figures) {
  if (figures.units.empty()) return {};
  TextTable table({{"unit", Align::kLeft},
                   {"gathered", Align::kRight},
                   {"kept per rank", Align::kRight},
                   {"tensors", Align::kRight}});
  for (const auto& unit : figures.units) {
    table.add_row({unit.name,
                   or_unknown(unit.bytes > 0, size_text(static_cast<double>(unit.bytes))),
                   or_unknown(unit.bytes > 0, size_text(static_cast<double>(unit.shard_bytes))),
                   or_unknown(!unit.parameters.empty(), std::to_string(unit.parameters.size()))});
  }
  return "\nUnits\n" + table.text();
}

std::string buckets_text(const trace::analysis::RunFigures& figures) {
  TextTable table({{"bucket", Align::kRight},
                   {"bytes", Align::kRight},
                   {"tensors", Align::kRight},
                   {"", Align::kLeft, 90}});
  for (const auto& bucket : figures.buckets) {
    const std::string first = bucket.parameters.empty() ? "" : bucket.parameters.front();
    const std::string last = bucket.parameters.size() < 2 ? "" : " … " + bucket.parameters.back();
    table.add_row({std::to_string(bucket.index), size_text(static_cast<double>(bucket.bytes)),
                   or_unknown(!bucket.parameters.empty(), std::to_string(bucket.parameters.size())),
                   bucket.oversize_reason.empty() ? first + last : bucket.oversize_reason});
  }
  return table.empty() ? "" : "\nBuckets, in the order of their reduction\n" + table.text();
}

}  // namespace shardlens::app::report
