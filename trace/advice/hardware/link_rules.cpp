#include <algorithm>

#include "trace/advice/rules.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

namespace {

// A bus bandwidth is made to be compared with the link's peak (nccl-tests, doc/PERFORMANCE.md),
// which large collectives come near to; less than half of it is not latency from this size on: at
// 10 GB/s 16 MiB take 1.6 ms, against some 0.05 ms of latency.
constexpr double kSlow = 0.5;
constexpr std::int64_t kLargeBytes = std::int64_t{16} << 20;

struct SlowRow {
  const analysis::CollectiveGroupFigures* row = nullptr;  // null: none is slow
  double peak = 0;                                        // of the link, bytes per second
};

double link_peak(const RunFacts& run) {
  double least = 0;
  for (const auto& rank : run.figures.ranks) {
    const double peak = rank.info.link_bytes_per_second;
    if (peak > 0) least = least == 0 ? peak : std::min(least, peak);
  }
  return least;
}

// The one that is exposed longest.
SlowRow slow_row(const RunFacts& run) {
  SlowRow slow{.peak = link_peak(run)};
  // Between hosts another link counts, and ranks that share a GPU use none.
  if (slow.peak <= 0 || run.figures.info.shared_gpu || run.hosts() > 1) return {};
  for (const auto& row : run.figures.collectives) {
    const bool is_slow = row.bytes >= kLargeBytes && row.matched > 0 && row.busbw_bytes_per_s > 0 &&
                         row.busbw_bytes_per_s < kSlow * slow.peak;
    if (!is_slow || row.exposed_ns < run.noticeable_ns()) continue;
    if (slow.row == nullptr || row.exposed_ns > slow.row->exposed_ns) slow.row = &row;
  }
  return slow;
}

std::string bandwidth_words(double bytes_per_second) {
  return base::format_bandwidth(bytes_per_second).text();
}

std::string choice_words(const analysis::CollectiveGroupFigures& row) {
  if (row.algorithm.empty() && row.protocol.empty()) return "";
  return " (" + row.algorithm + (row.algorithm.empty() || row.protocol.empty() ? "" : ", ") +
         row.protocol + ")";
}

Advice about_link(const RunFacts& run, const SlowRow& slow) {
  Advice advice;
  const std::string what = slow.row->tag.empty() ? "a collective" : slow.row->tag;
  advice.measured =
      bandwidth_words(slow.row->busbw_bytes_per_s) + " of the link's " + bandwidth_words(slow.peak);
  advice.why = what + " (" + base::bytes_text(slow.row->bytes) + ") moves at " +
               bandwidth_words(slow.row->busbw_bytes_per_s) + " of bus bandwidth" +
               choice_words(*slow.row) + "; the link can " + bandwidth_words(slow.peak) + ".";
  advice.evidence = {run.longest_call(
      [&](std::string_view tag) { return !tag.empty() && tag == slow.row->tag; }, what)};
  advice.at_stake_ns =
      slow.row->exposed_ns * (1 - slow.row->busbw_bytes_per_s / (kSlow * slow.peak));
  return advice;
}

// LL sends a flag beside every four bytes: half of the bandwidth at most (NCCL, NCCL_PROTO).
bool has_low_latency_protocol(const analysis::CollectiveGroupFigures& row) {
  return row.protocol == "LL" || row.protocol.starts_with("LL,") || row.protocol.ends_with(", LL");
}

}  // namespace

std::optional<Advice> nccl_choice(const RunFacts& run) {
  const SlowRow slow = slow_row(run);
  if (slow.row == nullptr || !run.is_gpu()) return {};
  const auto& settings = run.settings();
  Advice advice = about_link(run, slow);
  if (settings.nccl_algo != "auto") advice.changes.push_back({"nccl_algo", "auto"});
  if (settings.nccl_proto != "auto") advice.changes.push_back({"nccl_proto", "auto"});
  if (!advice.changes.empty()) {
    advice.title = "Let NCCL choose its algorithm and protocol";
    return advice;
  }
  if (!has_low_latency_protocol(*slow.row)) return {};
  advice.title = "Keep NCCL from its low-latency protocol";
  advice.changes = {{"nccl_proto", "^LL"}};
  advice.costs = "Small collectives take longer.";
  return advice;
}

std::optional<Advice> slow_link(const RunFacts& run) {
  const SlowRow slow = slow_row(run);
  if (slow.row == nullptr) return {};
  Advice advice = about_link(run, slow);
  advice.title = "Find what slows the link";
  advice.why += " Look at how the GPUs are connected (nvidia-smi topo -m) and at other traffic.";
  advice.gain_unknown = "No knob does this.";
  return advice;
}

}  // namespace shardlens::trace::advice
