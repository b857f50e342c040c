#include "tests/ui/inspect/testing/sample_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "tests/ui/inspect/testing/sample_memory.h"
#include "tests/ui/inspect/testing/sample_run.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;

struct SampleKernel {
  const char* name;
  const char* kernel_class;
  TimeClass piece_class;
  std::int64_t count;
  double median_us;
};

constexpr std::array<SampleKernel, 12> kKernels{{
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "matrix product",
     TimeClass::kCompute, 1024, 388.1},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64", "matrix product",
     TimeClass::kCompute, 512, 490.2},
    {"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", "attention", TimeClass::kCompute, 128, 759.3},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "communication", TimeClass::kOverlapped, 48,
     14790},
    {"ncclDevKernel_AllGather_RING_LL", "communication", TimeClass::kExposed, 48, 8588},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl"
     "(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const",
     "elementwise", TimeClass::kCompute, 128, 476.9},
    {"layer_norm_grad_input_kernel_vectorized", "normalisation", TimeClass::kCompute, 256, 148.8},
    {"multi_tensor_apply_kernel", "optimizer", TimeClass::kOptimizer, 40, 790.3},
    {"flash_fwd_kernel", "attention", TimeClass::kCompute, 128, 301.7},
    {"softmax_warp_forward", "normalisation", TimeClass::kCompute, 128, 21.2},
    {"void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>", "indexing",
     TimeClass::kCompute, 8, 31.2},
    {"Memset (Device)", "", TimeClass::kCopy, 1368, 1.31},
}};

void fill_histogram(trace::timeline::NameFigures& row, const std::vector<std::int64_t>& sorted) {
  row.histogram.first_ns = static_cast<double>(sorted.front());
  row.histogram.last_ns = static_cast<double>(sorted.back());
  const double low = std::log(std::max(1.0, row.histogram.first_ns));
  const double span = std::log(std::max(1.0, row.histogram.last_ns)) - low;
  for (const std::int64_t ns : sorted) {
    const double at =
        span > 0 ? (std::log(std::max(1.0, static_cast<double>(ns))) - low) / span : 0;
    ++row.histogram.counts[std::min<std::size_t>(
        trace::timeline::kHistogramBins - 1,
        static_cast<std::size_t>(at * trace::timeline::kHistogramBins))];
  }
}

void finish(trace::timeline::RangeTable& table) {
  for (const trace::timeline::NameFigures& row : table.rows) {
    table.count += row.count;
    table.total_ns += row.total_ns;
  }
  for (trace::timeline::NameFigures& row : table.rows) {
    row.share = static_cast<double>(row.total_ns) / static_cast<double>(table.total_ns);
  }
  std::ranges::sort(table.rows, std::greater(), &trace::timeline::NameFigures::total_ns);
}

trace::timeline::RangeTable kernels(const TablesOptions& options) {
  trace::timeline::RangeTable table{
      trace::timeline::StatisticsTable::kKernels, trace::timeline::GroupBy::kName, {}, 0, 0};
  unsigned seed = 1;
  for (const SampleKernel& kernel : kKernels) {
    auto row =
        sample_name(kernel.name, kernel.piece_class, kernel.count, kernel.median_us * 1e3, ++seed);
    row.kernel_class = kernel.kernel_class;
    table.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < options.extra_names; ++i) {
    auto row = sample_name("triton_poi_fused_" + std::to_string(i), TimeClass::kCompute, 4,
                           2e3 + static_cast<double>(i % 97) * 1e3, ++seed);
    row.kernel_class = "generated";
    table.rows.push_back(std::move(row));
  }
  finish(table);
  return table;
}

trace::timeline::RangeTable named_rows(trace::timeline::StatisticsTable kind,
                                       trace::timeline::GroupBy group,
                                       const std::vector<std::pair<const char*, double>>& names,
                                       TimeClass piece_class, std::int64_t bytes) {
  trace::timeline::RangeTable table{kind, group, {}, 0, 0};
  unsigned seed = 40;
  for (const auto& [name, median_us] : names) {
    ++seed;
    auto row = sample_name(name, piece_class, 16 + seed % 7 * 8, median_us * 1e3, seed);
    row.bytes = bytes * row.count;
    if (kind == trace::timeline::StatisticsTable::kCollectives) {
      row.piece_class = seed % 3 == 0 ? TimeClass::kExposed : TimeClass::kOverlapped;
      row.matched = row.count;
      row.wait_ns = row.total_ns / 5;
      row.transfer_ns = row.total_ns - row.wait_ns;
      row.algbw_bytes_per_s =
          static_cast<double>(row.bytes) / (static_cast<double>(row.transfer_ns) / 1e9);
      row.busbw_bytes_per_s = row.algbw_bytes_per_s * 7 / 8;
    }
    table.rows.push_back(std::move(row));
  }
  finish(table);
  return table;
}

std::vector<trace::timeline::RangeTable> sample_range_tables(const TablesOptions& options) {
  using trace::timeline::GroupBy;
  using trace::timeline::StatisticsTable;
  std::vector<trace::timeline::RangeTable> tables{kernels(options)};
  tables.push_back(named_rows(StatisticsTable::kOperators, GroupBy::kName,
                              {{"aten::linear", 220},
                               {"aten::addmm", 180},
                               {"aten::scaled_dot_product_attention", 140},
                               {"autograd::engine::evaluate_function: AddmmBackward0", 420},
                               {"Optimizer.step#AdamW.step", 9100}},
                              TimeClass::kHost, 0));
  const std::vector<std::pair<const char*, double>> units{{"Reduce-scatter · blocks.6", 14790},
                                                          {"Reduce-scatter · blocks.5", 14650},
                                                          {"All-gather · blocks.6", 8588},
                                                          {"All-gather · root", 12100},
                                                          {"All-reduce · loss", 38}};
  const std::vector<std::pair<const char*, double>> classes{
      {"Reduce-scatter", 14700}, {"All-gather", 8600}, {"All-reduce", 38}};
  const std::vector<std::pair<const char*, double>> shapes{
      {"254.3 MiB bfloat16", 14700}, {"127.1 MiB bfloat16", 8600}, {"4 B float32", 38}};
  for (const auto& [group, names] :
       {std::pair{GroupBy::kName, units}, std::pair{GroupBy::kClass, classes},
        std::pair{GroupBy::kShape, shapes}, std::pair{GroupBy::kUnit, units}}) {
    tables.push_back(named_rows(StatisticsTable::kCollectives, group, names, TimeClass::kOverlapped,
                                266'600'000));
  }
  tables.push_back(named_rows(StatisticsTable::kCopies, GroupBy::kName,
                              {{"Memcpy HtoD (Pinned -> Device)", 6.1}, {"Memcpy DtoH", 9.4}},
                              TimeClass::kCopy, 32'768));
  tables.push_back(named_rows(StatisticsTable::kLaunches, GroupBy::kName,
                              {{"cudaLaunchKernel", 4.9}, {"cudaMemcpyAsync", 7.7}},
                              TimeClass::kHost, 0));
  return tables;
}

std::shared_ptr<const trace::timeline::TimelineRows> sample_rows(int ranks) {
  auto rows = std::make_shared<trace::timeline::TimelineRows>();
  rows->start_ns = kSampleStart;
  rows->end_ns = kSampleStart + 306'000'000'000;
  int id = 0;
  const auto add = [&](int rank, trace::timeline::RowKind kind) {
    trace::timeline::TimelineRow row;
    row.id = id++;
    row.rank = rank;
    row.kind = kind;
    rows->rows.push_back(row);
  };
  add(-1, trace::timeline::RowKind::kRibbon);
  for (int rank = 0; rank < ranks; ++rank) {
    rows->ranks.push_back({rank, "cuda:" + std::to_string(rank), "NVIDIA H100", {}, "node-0", 0});
    for (const auto kind :
         {trace::timeline::RowKind::kPhases, trace::timeline::RowKind::kOperators,
          trace::timeline::RowKind::kLaunches, trace::timeline::RowKind::kKernels,
          trace::timeline::RowKind::kCommunication, trace::timeline::RowKind::kCopies}) {
      add(rank, kind);
    }
  }
  return rows;
}

state::SqlConsole sample_console(std::size_t rows) {
  state::SqlConsole console;
  console.answer = sample_answer(rows);
  console.tables = {{"step", {"rank", "step", "start_ns", "end_ns", "loss"}},
                    {"kernel", {"rank", "lane", "lane_name", "step", "name", "start_ns", "end_ns"}},
                    {"collective", {"rank", "lane", "step", "sequence", "function", "bytes"}},
                    {"allocation", {"rank", "lane", "name", "start_ns", "bytes"}}};
  console.history = {console.answer->query, "select count(*)\nfrom kernel"};
  return console;
}

void add_log_lines(state::RunView& run, int ranks) {
  using Level = trace::model::LogLine::Level;
  for (int rank = 0; rank < ranks; ++rank) {
    run.log.push_back({rank, kSampleStart + 1'000'000'000, Level::kWarning,
                       "the NCCL watchdog has seen no progress for 12 s"});
  }
  run.log.push_back(
      {1, kSampleStart + 2'000'000'000, Level::kError, "out of memory, \"blocks.6\""});
}

}  // namespace

trace::timeline::NameFigures sample_name(const std::string& name, TimeClass piece_class,
                                         std::int64_t count, double median_ns, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> spread(0, 0.05);
  std::vector<std::int64_t> durations;
  for (std::int64_t i = 0; i < count; ++i) {
    // Some names have a second hump.
    const double hump = seed % 4 == 1 && i % 9 == 0 ? 1.25 : 1;
    durations.push_back(std::max<std::int64_t>(1, std::llround(median_ns * hump * spread(random))));
  }
  std::ranges::sort(durations);
  trace::timeline::NameFigures row;
  row.name = name;
  row.piece_class = piece_class;
  row.count = count;
  for (const std::int64_t ns : durations) row.total_ns += ns;
  row.mean_ns = static_cast<double>(row.total_ns) / static_cast<double>(count);
  row.median_ns = durations[(durations.size() - 1) / 2];
  row.p99_ns =
      durations[static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(durations.size()))) -
                1];
  row.least_ns = durations.front();
  row.most_ns = durations.back();
  row.longest = {trace::timeline::EventTableKind::kKernel, 0, static_cast<std::int64_t>(seed), 7};
  row.longest_start_ns = kSampleStart + 5'000'000 * static_cast<std::int64_t>(seed);
  fill_histogram(row, durations);
  return row;
}

std::shared_ptr<const trace::timeline::RangeFigures> sample_range(const TablesOptions& options) {
  auto figures = std::make_shared<trace::timeline::RangeFigures>();
  figures->range = {kSampleStart + 1'000'000'000, kSampleStart + 1'126'400'000, {}};
  if (!options.selection) figures->range = {kSampleStart, kSampleStart + 306'000'000'000, {}};
  figures->is_whole_run = !options.selection;
  figures->seconds = 0.0041;
  figures->tables = sample_range_tables(options);
  figures->stragglers = sample_stragglers(options.ranks, 48);
  return figures;
}

state::Snapshot tables_snapshot(const TablesOptions& options) {
  SampleOptions sample;
  sample.gpu = true;
  sample.ranks = std::min(options.ranks, 4);
  sample.steps = options.steps;
  sample.live = false;
  sample.odd = true;
  state::Snapshot snapshot = sample_snapshot(sample);
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  add_log_lines(*run, options.ranks);
  snapshot.run = run;
  auto view = std::make_shared<state::InspectView>();
  view->run_folder = "runs/2026-11-18T10-11-12_llama-1b";
  view->rows = sample_rows(options.ranks);
  view->range = sample_range(options);
  view->details = sample_details(options.ranks);
  view->memory = sample_memory();
  view->sql = sample_console(options.sql_rows);
  snapshot.inspect = view;
  return snapshot;
}

state::Snapshot with_view(const state::Snapshot& snapshot,
                          const std::function<void(state::InspectView&)>& change) {
  state::Snapshot out = snapshot;
  auto view = std::make_shared<state::InspectView>(*snapshot.inspect);
  change(*view);
  out.inspect = view;
  return out;
}

}  // namespace shardlens::ui::inspect
