#include "app/report/costs_report.h"

#include <algorithm>
#include <map>
#include <optional>

#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/base/words/quantity.h"
#include "trace/model/traffic.h"
#include "ui/present/format.h"

namespace shardlens::app::report {
namespace {

using trace::predict::CommunicationSetup;
using trace::predict::CostRow;
using trace::predict::CostsSource;

struct Bandwidths {  // bytes per second
  double algorithm = 0, bus = 0;
};

// None where nothing took any time.
std::optional<Bandwidths> bandwidths_of(const CostRow& row) {
  if (row.median_ns <= 0) return std::nullopt;
  const double algorithm = static_cast<double>(row.bytes) * 1e9 / row.median_ns;
  return Bandwidths{algorithm,
                    algorithm * trace::model::bus_factor(row.kind.function, row.kind.ranks)};
}

std::optional<double> spread_ns(const CostRow& row) {
  if (!row.lower_quartile_ns || !row.upper_quartile_ns) return std::nullopt;
  return (*row.upper_quartile_ns - *row.lower_quartile_ns) / 2;
}

std::string link_words(const CommunicationSetup& setup) {
  std::string words;
  if (!setup.link.empty()) words += "; " + setup.link;
  if (const auto& link = setup.simulated_link) {
    words += "; simulated link of " + ui::present::format_plain(link->gbit_per_s) + " Gbit/s, " +
             ui::present::format_plain(link->latency_us) + " µs";
    if (link->nodes > 0) words += ", between " + std::to_string(link->nodes) + " nodes";
  }
  if (setup.shared_gpu) words += "; shared GPU: timings not representative";
  return words;
}

std::string setup_text(const CostsReport& report) {
  const CommunicationSetup& setup = report.file.setup;
  std::string text = "Collectives of " + setup.backend + " between " + std::to_string(setup.ranks) +
                     " ranks on " + setup.device;
  if (!setup.device_name.empty()) text += " (" + setup.device_name + ")";
  text += link_words(setup) + "\n";
  text += report.file.source == CostsSource::kCalibration
              ? "Transfer alone, from the last rank's start to the end: medians, ± half of what "
                "lies between the quartiles\n"
              : "As nccl-tests measured them, out of place\n";
  return text;
}

// Sizes that the time did not suffice for, by function.
std::string left_out_text(const CostsReport& report) {
  std::map<trace::predict::CollectiveKind, std::int64_t> largest;
  for (const CostRow& row : report.file.rows) {
    std::int64_t& most = largest[row.kind];
    most = std::max(most, row.bytes);
  }
  constexpr std::int64_t kMost = std::int64_t{256} << 20;
  const std::int64_t wanted = std::min(report.largest_bytes, kMost);
  std::string text;
  for (const auto& [kind, bytes] : largest) {
    if (4 * bytes > 3 * wanted) continue;
    text += (text.empty() ? "" : ", ") + std::string(to_string(kind.function)) + " above " +
            size_text(static_cast<double>(bytes));
  }
  if (text.empty()) return "";
  return "\nToo long for the time, and left out: " + text + ". --seconds gives more.\n";
}

Json cost_row_json(const CostRow& row) {
  const auto bandwidths = bandwidths_of(row);
  const auto gb_per_s = [&](double Bandwidths::*which) {
    return bandwidths ? number_or_null((*bandwidths).*which / 1e9) : Json(nullptr);
  };
  return {{"function", to_string(row.kind.function)},
          {"ranks", row.kind.ranks},
          {"bytes", row.bytes},
          {"count", or_null(row.count)},
          {"transfer_ms",
           {{"median", ms(row.median_ns)},
            {"lower_quartile", optional_number(row.lower_quartile_ns, 1e-6)},
            {"upper_quartile", optional_number(row.upper_quartile_ns, 1e-6)}}},
          {"algbw_gb_per_s", gb_per_s(&Bandwidths::algorithm)},
          {"busbw_gb_per_s", gb_per_s(&Bandwidths::bus)}};
}

}  // namespace

std::string costs_text(const CostsReport& report) {
  const std::string unknown(ui::present::kUnknown);
  TextTable table({{"function"},
                   {"ranks", Align::kRight},
                   {"size", Align::kRight},
                   {"count", Align::kRight},
                   {"time", Align::kRight},
                   {"±", Align::kRight},
                   {"algbw", Align::kRight},
                   {"busbw", Align::kRight}});
  for (const CostRow& row : report.file.rows) {
    const auto bandwidths = bandwidths_of(row);
    const auto spread = spread_ns(row);
    const auto bandwidth = [&](double Bandwidths::*which) {
      return bandwidths ? ui::present::format_bandwidth((*bandwidths).*which).text() : unknown;
    };
    table.add_row({std::string(to_string(row.kind.function)), std::to_string(row.kind.ranks),
                   size_text(static_cast<double>(row.bytes)),
                   row.count ? ui::present::format_integer(*row.count) : unknown,
                   time_text(row.median_ns), spread ? time_text(*spread) : unknown,
                   bandwidth(&Bandwidths::algorithm), bandwidth(&Bandwidths::bus)});
  }
  std::string text = setup_text(report) + "\n" + table.text() + left_out_text(report) + "\n";
  for (const auto& file : report.files) text += file.string() + "\n";
  return text;
}

Json costs_json(const CostsReport& report) {
  const trace::predict::CostsFile& file = report.file;
  const CommunicationSetup& setup = file.setup;
  Json link = nullptr;
  if (setup.simulated_link) {
    link = {{"latency_us", setup.simulated_link->latency_us},
            {"gbit_per_s", setup.simulated_link->gbit_per_s}};
    if (setup.simulated_link->nodes > 0) link["nodes"] = setup.simulated_link->nodes;
  }
  return {{"schema", 1},
          {"source", to_string(file.source)},
          {"device", setup.device},
          {"device_name", text_or_null(setup.device_name)},
          {"backend", setup.backend},
          {"ranks", setup.ranks},
          {"shared_gpu", setup.shared_gpu},
          {"link", text_or_null(setup.link)},
          {"simulated_link", std::move(link)},
          {"versions", text_or_null(file.versions)},
          {"data_type", text_or_null(file.data_type)},
          {"seconds", or_null(file.seconds)},
          {"seed", or_null(file.seed)},
          {"costs", array_of(file.rows, cost_row_json)},
          {"files", array_of(report.files, [](const auto& path) { return path.string(); })}};
}

}  // namespace shardlens::app::report
