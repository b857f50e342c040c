#include "tests/ui/inspect/testing/sample_run.h"

#include <algorithm>
#include <array>

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;
using trace::timeline::EventTableKind;
using trace::timeline::RowKind;

constexpr int kUnits = 16, kForwardKernels = 160, kBackwardKernels = 320;
constexpr std::array<const char*, 6> kKernelNames{
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
    "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
    "vectorized_elementwise_kernel",
    "layer_norm_grad_input_kernel_vectorized",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64",
    "reduce_kernel"};

std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  return value;
}
// 0 to 1, always the same for the same numbers.
double chance(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  return static_cast<double>(mixed(a * 1'000'003 + b * 8'191 + c) % 10'000) / 10'000;
}

class EventMaker {
 public:
  EventMaker(std::int64_t start, std::int64_t length, int rank, std::int64_t step)
      : start_(start), length_(static_cast<double>(length)), rank_(rank), step_(step) {}

  std::vector<SampleEvent> phases();
  std::vector<SampleEvent> operators(EventTableKind table);
  std::vector<SampleEvent> kernels(int stream);
  std::vector<SampleEvent> gathers();
  std::vector<SampleEvent> scatters();
  std::vector<SampleEvent> ribbon();

 private:
  std::int64_t at(double share) const {
    return start_ + static_cast<std::int64_t>(share * length_);
  }
  void add(double from, double to, std::string name, TimeClass piece_class, int level = 0) {
    out_.push_back({at(from), std::max(at(to), at(from) + 1), std::move(name), level, piece_class});
  }
  std::vector<SampleEvent> take(EventTableKind table);

  std::int64_t start_;
  double length_;
  int rank_;
  std::int64_t step_;
  std::vector<SampleEvent> out_;
};

std::vector<SampleEvent> EventMaker::take(EventTableKind table) {
  std::stable_sort(out_.begin(), out_.end(), [](const SampleEvent& a, const SampleEvent& b) {
    return a.level != b.level ? a.level < b.level : a.start_ns < b.start_ns;
  });
  std::uint32_t index = 0;
  for (SampleEvent& event : out_) event.ref = {table, rank_, step_, index++};
  return std::move(out_);
}

std::vector<SampleEvent> EventMaker::phases() {
  add(0, 0.01, "data", TimeClass::kData);
  add(0.01, 0.31, "forward", TimeClass::kForward);
  add(0.31, 0.9, "backward", TimeClass::kBackward);
  add(0.9, 0.985, "optimizer", TimeClass::kOptimizerPhase);
  return take(EventTableKind::kSpan);
}

std::vector<SampleEvent> EventMaker::operators(EventTableKind table) {
  const bool launches = table == EventTableKind::kLaunch;
  const int count = launches ? 240 : 64;
  for (int i = 0; i < count; ++i) {
    const double from = 0.015 + 0.86 * i / count, width = 0.86 / count;
    if (launches) {
      add(from, from + width * 0.4, "cudaLaunchKernel", TimeClass::kHost);
      continue;
    }
    add(from, from + width * 0.92, i % 2 ? "aten::linear" : "aten::layer_norm", TimeClass::kHost);
    add(from + width * 0.1, from + width * 0.5, "aten::addmm", TimeClass::kHost, 1);
    add(from + width * 0.55, from + width * 0.85, "aten::t", TimeClass::kHost, 1);
    add(from + width * 0.6, from + width * 0.8, "aten::transpose", TimeClass::kHost, 2);
    add(from + width * 0.65, from + width * 0.75, "aten::as_strided", TimeClass::kHost, 3);
  }
  return take(table);
}

std::vector<SampleEvent> EventMaker::kernels(int stream) {
  const auto fill = [&](double from, double to, int count, std::uint64_t salt) {
    double time = from;
    const double each = (to - from) / count;
    for (int i = 0; i < count; ++i) {
      const auto kind = mixed(static_cast<std::uint64_t>(i) % 12 + salt) % kKernelNames.size();
      const double width = each * (0.35 + 0.6 * chance(static_cast<std::uint64_t>(i), salt, 7));
      add(time, time + width, kKernelNames[kind], TimeClass::kCompute);
      time += each;
    }
  };
  if (stream > 0) {
    fill(0.05 * stream, 0.05 * stream + 0.1, 12, 40 + static_cast<std::uint64_t>(stream));
    return take(EventTableKind::kKernel);
  }
  fill(0.018, 0.31, kForwardKernels, 1);
  fill(0.32, 0.9, kBackwardKernels, 2);
  for (int i = 0; i < 6; ++i) {
    add(0.912 + 0.012 * i, 0.912 + 0.0118 * (i + 1), "multi_tensor_apply_kernel",
        TimeClass::kOptimizer);
  }
  return take(EventTableKind::kKernel);
}

std::vector<SampleEvent> EventMaker::gathers() {
  add(0.004, 0.017, "all-gather root", TimeClass::kExposed);
  for (int i = 0; i < kUnits; ++i) {
    const double from = 0.022 + 0.28 * i / kUnits;
    add(from, from + 0.012, "all-gather blocks." + std::to_string(i), TimeClass::kOverlapped);
  }
  for (int i = 0; i < kUnits; ++i) {
    const double from = 0.325 + 0.55 * i / kUnits;
    add(from, from + 0.014, "all-gather blocks." + std::to_string(kUnits - 1 - i),
        TimeClass::kOverlapped);
  }
  return take(EventTableKind::kCollective);
}

std::vector<SampleEvent> EventMaker::scatters() {
  for (int i = 0; i < kUnits; ++i) {
    const double from = 0.345 + 0.55 * i / kUnits;
    const double early =
        0.008 * chance(static_cast<std::uint64_t>(rank_), static_cast<std::uint64_t>(i),
                       static_cast<std::uint64_t>(step_));
    const bool last = i + 1 == kUnits;
    add(from - early, from + (last ? 0.028 : 0.024),
        "reduce-scatter blocks." + std::to_string(kUnits - 1 - i),
        last ? TimeClass::kExposed : TimeClass::kOverlapped);
    out_.back().latest_start_ns = at(from);
  }
  return take(EventTableKind::kCollective);
}

std::vector<SampleEvent> EventMaker::ribbon() {
  // What a slow step takes longer is not hidden behind compute.
  const bool slow = step_ == 121 || step_ == 122;
  const double slip =
      (slow                         ? 0.4
       : step_ > 380 && step_ < 420 ? 0.1
                                    : 0.01) *
      chance(static_cast<std::uint64_t>(rank_), 3, static_cast<std::uint64_t>(step_));
  add(0, 0.004, "", TimeClass::kIdle);
  add(0.004, 0.018, "", TimeClass::kExposed);
  add(0.018, 0.30, "", TimeClass::kCompute);
  add(0.30, 0.32, "", TimeClass::kExposed);
  add(0.32, 0.82 - slip, "", TimeClass::kOverlapped);
  add(0.82 - slip, 0.905, "", TimeClass::kExposed);
  add(0.905, 0.912, "", TimeClass::kIdle);
  add(0.912, 0.984, "", TimeClass::kOptimizer);
  add(0.984, 1, "", TimeClass::kIdle);
  return take(EventTableKind::kNone);
}

}  // namespace

SampleRun::SampleRun(const SampleRunOptions& options) : options_(options) {
  std::int64_t at = kSampleStart;
  for (int i = 0; i < options.steps; ++i) {
    starts_.push_back(at);
    double length = static_cast<double>(options.step_ns) *
                    (0.985 + 0.03 * chance(static_cast<std::uint64_t>(i), 11));
    if (i == 121 || i == 122) length *= 1.9;
    if (i > 380 && i < 420) length *= 1.12;
    at += static_cast<std::int64_t>(length);
  }
  starts_.push_back(at);
  rows_.start_ns = kSampleStart - 40'000;
  rows_.end_ns = at + 40'000;
  add_row(-1, RowKind::kRibbon, 1, "All ranks");
  for (int rank = 0; rank < options.ranks; ++rank) add_rank(rank);
  std::stable_sort(rows_.steps.begin(), rows_.steps.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  rows_.events = std::int64_t{2'200} * options.ranks * options.steps;
}

int SampleRun::add_row(int rank, RowKind kind, int levels, std::string label, std::string unit) {
  trace::timeline::TimelineRow row;
  row.id = static_cast<int>(rows_.rows.size());
  row.rank = rank;
  row.kind = kind;
  row.lane = row.id;
  row.levels = levels;
  row.label = std::move(label);
  row.unit = std::move(unit);
  row.count = kind == RowKind::kKernels ? 480 * options_.steps : 64 * options_.steps;
  rows_.rows.push_back(row);
  return row.id;
}

void SampleRun::add_rank(int rank) {
  trace::timeline::TimelineRank out;
  out.rank = rank;
  out.device = "cuda:" + std::to_string(rank);
  out.device_name = "NVIDIA H100 80GB HBM3";
  out.host = "node-" + std::to_string(rank / 4);
  out.clock_error_ns = rank < 4 ? 0 : 8'000;
  const auto add = [&](RowKind kind, int levels, const char* label, const char* unit = "") {
    out.rows.push_back(add_row(rank, kind, levels, label, unit));
  };
  add(RowKind::kRibbon, 1, "");
  add(RowKind::kPhases, 1, "Phases");
  add(RowKind::kOperators, 4, "Operators");
  add(RowKind::kLaunches, 1, "Launches");
  add(RowKind::kKernels, 1, "Compute stream 7");
  for (int i = 0; i < options_.extra_streams; ++i) {
    add(RowKind::kKernels, 1, ("Compute stream " + std::to_string(30 + i)).c_str());
  }
  add(RowKind::kCommunication, 1, "All-gather stream 20");
  add(RowKind::kCommunication, 1, "Reduce-scatter stream 24");
  add(RowKind::kReady, 1, "Gradients ready");
  add(RowKind::kMemory, 1, "Memory allocated", "bytes");
  add(RowKind::kCounter, 1, "GPU utilisation", "%");
  rows_.ranks.push_back(out);
  for (int step = 0; step < options_.steps; ++step) {
    rows_.steps.push_back({step, rank, step_start(rank, step), step_end(rank, step)});
  }
}

std::int64_t SampleRun::step_start(int rank, std::int64_t step) const {
  return starts_[static_cast<std::size_t>(step)] + rank * 3'000;
}
std::int64_t SampleRun::step_end(int rank, std::int64_t step) const {
  return starts_[static_cast<std::size_t>(step) + 1] + rank * 3'000;
}

std::vector<SampleEvent> SampleRun::events(int row, std::int64_t step) const {
  const trace::timeline::TimelineRow& of = rows_.rows[static_cast<std::size_t>(row)];
  const int rank = std::max(of.rank, 0);
  const std::int64_t start = step_start(rank, step);
  EventMaker maker(start, step_end(rank, step) - start, rank, step);
  switch (of.kind) {
    case RowKind::kRibbon:
      return maker.ribbon();
    case RowKind::kPhases:
      return maker.phases();
    case RowKind::kOperators:
      return maker.operators(EventTableKind::kOperator);
    case RowKind::kLaunches:
      return maker.operators(EventTableKind::kLaunch);
    case RowKind::kKernels:
      return maker.kernels(of.label == "Compute stream 7" ? 0 : row % 7 + 1);
    case RowKind::kCommunication:
      return of.label.starts_with("All") ? maker.gathers() : maker.scatters();
    case RowKind::kReady:
      return maker.scatters();
    default:
      return {};
  }
}

double SampleRun::area_value(int row, std::int64_t time_ns) const {
  const double shape = [&] {
    for (int step = 0; step < options_.steps; ++step) {
      if (time_ns >= starts_[static_cast<std::size_t>(step) + 1]) continue;
      const auto length = static_cast<double>(starts_[static_cast<std::size_t>(step) + 1] -
                                              starts_[static_cast<std::size_t>(step)]);
      const double at =
          static_cast<double>(time_ns - starts_[static_cast<std::size_t>(step)]) / length;
      return at < 0.31 ? at / 0.31 : at < 0.9 ? (0.9 - at) / 0.59 : 0.0;
    }
    return 0.0;
  }();
  return area_highest(row) * (0.42 + 0.58 * std::clamp(shape, 0.0, 1.0));
}

double SampleRun::area_highest(int row) const {
  const bool bytes = rows_.rows[static_cast<std::size_t>(row)].unit == "bytes";
  return bytes ? 31.2 * 1024 * 1024 * 1024 : 98.0;
}

}  // namespace shardlens::ui::inspect
