#include <malloc.h>
#include <sched.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/types.h>

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <type_traits>

#include "bench/recorder/parts.h"
#include "profiler/pytorch/tick_clock.h"
#include "profiler/pytorch/torch_sources.h"
#include "trace/analysis/figures/recording_cost.h"
#include "trace/base/median.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::bench {
namespace {

using profiler::recorder::Recorder;

// A few layers: bound by their products or, with a small width, by the launch of their operators.
class Loop {
 public:
  explicit Loop(std::int64_t width)
      : layers_(torch::nn::Sequential(torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                      torch::nn::Linear(4 * width, width),
                                      torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})),
                                      torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                      torch::nn::Linear(4 * width, width))),
        input_(torch::randn({64, width})),
        optimizer_(layers_->parameters(), torch::optim::SGDOptions(1e-3)) {}

  void step(Recorder* recorder) {
    if (recorder) recorder->begin_step(index_++);
    optimizer_.zero_grad();
    const auto loss = phase(recorder, trace::base::Phase::kForward,
                            [&] { return layers_->forward(input_).pow(2).mean(); });
    phase(recorder, trace::base::Phase::kBackward, [&] { loss.backward(); });
    phase(recorder, trace::base::Phase::kOptimizer, [&] { optimizer_.step(); });
    if (recorder) recorder->end_step({});
  }

 private:
  template <typename Work>
  static std::invoke_result_t<Work> phase(Recorder* recorder, trace::base::Phase phase,
                                          Work&& work) {
    std::optional<profiler::recorder::PhaseScope> scope;
    if (recorder) scope.emplace(*recorder, phase);
    return work();
  }

  torch::nn::Sequential layers_;
  torch::Tensor input_;
  torch::optim::SGD optimizer_;
  std::int64_t index_ = 0;
};

// What LibTorch does for any observer, which nobody who wants operators gets around; or, with the
// clock, times.
class BareObserver {
 public:
  enum class Does { kNothing, kReadsClock };
  explicit BareObserver(Does does)
      : callback_(at::addGlobalCallback(
            (does == Does::kNothing ? at::RecordFunctionCallback(&begin_nothing, &end_nothing)
                                    : at::RecordFunctionCallback(&begin_time, &end_time))
                .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}))) {}
  ~BareObserver() { at::removeCallback(callback_); }
  BareObserver(const BareObserver&) = delete;
  BareObserver& operator=(const BareObserver&) = delete;

 private:
  using Context = std::unique_ptr<at::ObserverContext>;
  static Context begin_nothing(const at::RecordFunction&) { return nullptr; }
  static void end_nothing(const at::RecordFunction&, at::ObserverContext*) {}
  static Context begin_time(const at::RecordFunction&) {
    clock_.now_ns();
    return nullptr;
  }
  static void end_time(const at::RecordFunction&, at::ObserverContext*) { clock_.now_ns(); }

  static inline thread_local profiler::pytorch::TickClock clock_;
  at::CallbackHandle callback_;
};

enum Kind { kPlain, kObserved, kTimed, kRecorded, kKinds };

// The mean step of each block: what comes in bursts, as the recorder's threads do, counts.
struct Times {
  std::vector<double> wall_ms, cpu_ms;
};

// Long enough that the recorder's clock and LibTorch's lists have settled.
void run_block(Loop& loop, Recorder* recorder, Times& times) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  constexpr double kWarmUpMs = 30, kBlockMs = 300;  // a commit is written within
  const auto start = std::chrono::steady_clock::now();
  const auto passed_ms = [&] {
    return Milliseconds(std::chrono::steady_clock::now() - start).count();
  };
  while (passed_ms() < kWarmUpMs) loop.step(recorder);
  const double from_ms = passed_ms(), cpu_from_ms = thread_cpu_ms();
  int steps = 0;
  for (; passed_ms() < kWarmUpMs + kBlockMs; ++steps) loop.step(recorder);
  times.wall_ms.push_back((passed_ms() - from_ms) / steps);
  times.cpu_ms.push_back((thread_cpu_ms() - cpu_from_ms) / steps);
}

// What a report would say of this recording.
struct Said {
  double slowdown = 0;
  std::int64_t events = 0, steps = 0;
};
trace::base::Result<Said> read_said(const std::filesystem::path& file) {
  TRY_ASSIGN(auto database,
             trace::store::Database::open(file.string(), SQLITE_OPEN_READONLY, file.string()));
  TRY_ASSIGN(const auto time_ns, database.integer("select sum(end_ns - start_ns) from step"));
  TRY_ASSIGN(const auto cost_ns, database.integer("select sum(callback_ns) from recorder_cost"));
  Said said;
  TRY_ASSIGN(said.events, database.integer("select sum(count) from chunk"));
  TRY_ASSIGN(said.steps, database.integer("select count(*) from step"));
  said.slowdown =
      trace::analysis::slowdown(static_cast<double>(cost_ns), static_cast<double>(time_ns));
  return said;
}

// The whole process, until destroyed; threads that it starts meanwhile stay there.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof all_, &all_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t all_{};
};

std::string percent(const char* format, double share) {
  char text[64];
  std::snprintf(text, sizeof text, format, share * 100);
  return text;
}

using KindTimes = std::array<Times, kKinds>;

// In another order each time: what one kind leaves behind meets either of the others.
Kind kind_of(int block) {
  const bool is_reversed = block / kKinds % 2 != 0;
  return static_cast<Kind>((is_reversed ? 2 * kKinds - block % kKinds : block) % kKinds);
}

KindTimes run_in_turn(const StepJob& job, Recorder& recorder) {
  Loop loop(job.width);
  KindTimes times;
  for (int block = 0; block < kKinds * job.blocks; ++block) {
    const Kind kind = kind_of(block);
    std::optional<profiler::pytorch::OperatorObserver> recording;
    std::optional<BareObserver> observer;
    if (kind == kRecorded) recording.emplace(recorder);
    if (kind == kObserved) observer.emplace(BareObserver::Does::kNothing);
    if (kind == kTimed) observer.emplace(BareObserver::Does::kReadsClock);
    run_block(loop, kind == kRecorded ? &recorder : nullptr, times[kind]);
  }
  return times;
}

// Of blocks that ran one after the other, so that both met the machine as it was then.
struct PairedRatio {
  double median = 0;
  double standard_error = 0;  // 1.2533 σ / √n, σ = 1.4826 times the median deviation

  PairedRatio(const std::vector<double>& those, const std::vector<double>& to) {
    std::vector<double> ratios, deviations;
    for (std::size_t i = 0; i < those.size(); ++i) ratios.push_back(those[i] / to[i]);
    median = trace::base::upper_median(ratios);
    for (const double ratio : ratios) deviations.push_back(std::abs(ratio - median));
    standard_error = 1.2533 * 1.4826 * trace::base::upper_median(deviations) /
                     std::sqrt(static_cast<double>(ratios.size()));
  }
};

void add_rows(const StepJob& job, const KindTimes& times, const Said& said, Rows& rows) {
  const auto wall = [&](Kind kind) { return trace::base::upper_median(times[kind].wall_ms); };
  const auto beside_plain = [&](Kind kind) {
    return PairedRatio(times[kind].wall_ms, times[kPlain].wall_ms);
  };
  const auto add = [&](const std::string& what, double value, const std::string& unit,
                       const std::string& peer = "", std::optional<double> ratio = {}) {
    rows.push_back({what + ", " + job.what, value, unit, "", {}, peer, ratio});
  };
  const std::string same = "the same without recording";
  const PairedRatio recorded = beside_plain(kRecorded);
  const double observed = beside_plain(kObserved).median;
  const double adds = recorded.median - 1, dispatch_adds = observed - 1;  // in parts of a step
  rows.push_back({"step time with recording, " + job.what, wall(kRecorded), "ms",
                  percent("<= +%g %%", job.budget), adds <= job.budget, same, recorded.median});
  add("what chance makes of that ratio (standard error)", recorded.standard_error * 100, "%");
  add("LibTorch's dispatch alone, for an observer that does nothing", wall(kObserved), "ms", same,
      observed);
  add("the same for one that only reads the clock", wall(kTimed), "ms", same,
      beside_plain(kTimed).median);
  add("LibTorch's part of what recording adds", dispatch_adds / adds * 100, "%");
  // Of this, what else runs on the machine makes little.
  const PairedRatio cpu(times[kRecorded].cpu_ms, times[kPlain].cpu_ms);
  add("CPU time of the training thread per step",
      trace::base::upper_median(times[kRecorded].cpu_ms), "ms", same, cpu.median);
  add("what chance makes of that ratio of CPU times (standard error)", cpu.standard_error * 100,
      "%");
  const double per_step = static_cast<double>(said.events) / static_cast<double>(said.steps);
  add("an operator's share of that, LibTorch's and ours", adds * wall(kPlain) * 1e6 / per_step,
      "ns", "LibTorch's alone", adds / dispatch_adds);
  const double off = said.slowdown / adds;
  rows.push_back({"slowdown that the recorder says, " + job.what, said.slowdown * 100, "%",
                  "within a factor of 1.3", off >= 1 / 1.3 && off <= 1.3, "measured", off});
}

}  // namespace

trace::base::Result<void> measure_steps(const StepJob& job, Rows& rows) {
  // Tensors keep their memory: what the kernel needs to give it anew depends on chance.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::optional<OneCore> one_core;
  if (job.on_one_core) one_core.emplace();
  TRY_ASSIGN(const ScratchRecorder scratch, start_scratch_recorder());
  const KindTimes times = run_in_turn(job, *scratch.recorder);
  TRY(scratch.recorder->stop());
  TRY_ASSIGN(const Said said, read_said(scratch.file()));
  add_rows(job, times, said, rows);
  return {};
}

}  // namespace shardlens::bench
