// Costs of collectives as JSON, and tables of nccl-tests.
#include <cmath>

#include "bench/fuzz/subject.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/predict/costs/nccl_tests.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;
using trace::model::CollectiveFunction;

constexpr std::string_view kTable =
    R"(# Collective test starting: all_reduce_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 1 iters: 20 validation: 1
#  Rank  0 Group  0 Pid  1 on      node7 device  0 [0000:07:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  1 on      node7 device  1 [0000:0f:00] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    10.25    0.00    0.00      0     9.98    0.00    0.00      0
     1048576        262144     float     sum      -1    23.50   44.62   44.62      0    23.10   45.39   45.39    N/A
)";
constexpr std::string_view kColumns =
    "size(B),count,type,time(ns),busbw(GB/s),time(ns),busbw(GB/s)\n"
    "1048576,262144,float,44210,23.72,45100,23.25\n2097152,524288,float,53430,39.25,51130,41.01\n";

trace::predict::CostsFile sample_costs() {
  trace::predict::CostsFile file;
  file.setup.device = "cpu";
  file.setup.device_name = "AMD EPYC, 2 cores";
  file.setup.backend = "gloo";
  file.setup.ranks = 2;
  file.setup.simulated_link = trace::job::SimulatedLink{50, 1};
  file.setup.environment = "NCCL_ALGO=Ring\n";
  file.seconds = 2.5;
  file.seed = 7;
  file.rows = {{{CollectiveFunction::kAllReduce, 2}, 1024, 9, 1500.5, 1400, 1700.25},
               {{CollectiveFunction::kBroadcast, 2}, 4096, std::nullopt, 10, {}, {}}};
  return file;
}

class CostsSubject final : public Subject {
 public:
  std::string_view name() const override { return "costs"; }
  int weight() const override { return 8; }

  trace::base::Result<void> prepare(const fs::path&) override {
    costs_ = trace::predict::costs_json(sample_costs());
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    is_table_ = mutation.one_in(2);
    const fs::path folder = input / trace::predict::kCostsFolder;
    fs::create_directory(folder);
    file_ = folder / "a.json";
    const std::string_view table = mutation.one_in(2) ? kTable : kColumns;
    write_text_file(file_, is_table_ ? mutation.bytes(std::string(table)) : mutation.json(costs_));
    if (mutation.one_in(100)) mutation.replace_file(file_);
  }

  void read(const fs::path& input, const fs::path&, Findings& findings) override {
    if (is_table_) return read_table(findings);
    findings.check(trace::predict::costs_for(sample_costs().setup, input));
    const auto file = trace::predict::read_costs(file_);
    if (!findings.check(file)) return;
    check_costs(file->costs(), findings);
    // What was understood is said so that it is understood again.
    const std::string said = trace::predict::costs_json(*file);
    const auto again = trace::predict::parse_costs(said, "it");
    if (!again) return findings.add("costs are not read again: " + again.error().message);
    if (trace::predict::costs_json(*again) != said) {
      findings.add("costs change when they are written and read");
    }
  }

 private:
  void read_table(Findings& findings) {
    const auto table = trace::predict::read_nccl_tests(file_);
    if (!findings.check(table)) return;
    for (const int ranks : {0, 2}) {
      const auto rows = trace::predict::cost_rows(*table, "it", {}, ranks);
      if (findings.check(rows)) check_costs(of(*rows), findings);
      const auto told =
          trace::predict::cost_rows(*table, "it", CollectiveFunction::kAllReduce, ranks);
      if (findings.check(told)) check_costs(of(*told), findings);
    }
  }
  static trace::predict::CollectiveCosts of(const std::vector<trace::predict::CostRow>& rows) {
    return trace::predict::CollectiveCosts(trace::predict::measured_from(rows));
  }
  static void check_costs(const trace::predict::CollectiveCosts& costs, Findings& findings) {
    const auto filled = of(sample_costs().rows).filled_from(costs);
    for (const double bytes : {1.0, 1024.0, 3e6, 1e15}) {
      const auto cost = filled.of({CollectiveFunction::kAllReduce, 2}, bytes);
      const bool is_sound = !cost || (std::isfinite(cost->ns) && cost->ns >= 0);
      if (!is_sound) findings.add("a cost that is no time");
    }
  }

  std::string costs_;
  fs::path file_;
  bool is_table_ = false;
};

}  // namespace

std::unique_ptr<Subject> costs_subject() { return std::make_unique<CostsSubject>(); }

}  // namespace shardlens::bench
