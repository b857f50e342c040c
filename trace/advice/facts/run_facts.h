// All that rules look at: a run's figures, a sample of its steps, and the predictor of other
// settings. Refers to what its owner keeps. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/advice/facts/step_sample.h"
#include "trace/advice/values/advice.h"
#include "trace/analysis/figures/figures.h"
#include "trace/predict/sizes/planned_job.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::advice {

class RunFacts {
 public:
  // `predictor`: of the same run; null: `refused` says why there is none. All outlive it.
  RunFacts(const analysis::RunFigures& figures, const StepSample& sample,
           const tuning::Predictor* predictor, std::string refused);

  const analysis::RunFigures& figures;
  const StepSample& sample;
  const tuning::Predictor* const predictor;
  const std::string refused;

  // Of another program's run what it tells, the rest says nothing.
  const job::Settings& settings() const;
  // Another program's run tells what the knob was.
  bool tells(std::string_view knob) const;
  bool is_gpu() const { return figures.info.device == "cuda"; }
  int ranks() const { return figures.info.world_size; }
  int hosts() const { return hosts_; }  // that the ranks name; at least 1
  int nodes() const { return nodes_; }  // hosts, or those that a simulated link lies between
  double step_ns() const { return figures.summary.step_ns.mean; }

  // What is less is not worth a word: a hundredth of the mean step, or what its own uncertainty
  // (the half 95 % interval of the mean, analysis/noise/mean_estimate.h) may be where that is more.
  double noticeable_ns() const { return noticeable_ns_; }

  // The measured step whose time is the median, of those with detail where there are any; of no
  // step where none is measured.
  Evidence in_typical_step(std::string what, int rank = -1) const;

  // The longest of the sampled collectives with such a tag; else the typical step.
  Evidence longest_call(const std::function<bool(std::string_view tag)>& counts,
                        const std::string& what) const;

  // The settings with changes; none: they contradict each other.
  std::optional<job::Settings> with(const std::vector<KnobValue>& changes) const;

  // ---- memory, per rank --------------------------------------------------------------------

  // The run's job with these settings; none: its model's shape is not known.
  std::optional<predict::PlannedJob> job(const job::Settings& settings) const;
  // Of the rank that needs most: as measured, plus what the estimates of both settings differ.
  std::optional<std::int64_t> peak_bytes(const job::Settings& settings) const;
  std::int64_t recorded_peak_bytes() const { return peak_bytes_; }  // of tensors; 0: not known
  // What its tensors may fill: the device's memory, on a CPU a rank's share of the host's, without
  // what was measured outside of PyTorch and what the allocator held beyond its tensors. 0: not
  // known.
  std::int64_t usable_bytes() const { return usable_bytes_; }
  // Whether settings fit with a tenth to spare: estimates are to be within 5 % of what is measured,
  // and an allocator that is nearly full frees its blocks again and again. None: not known.
  std::optional<bool> fits(const job::Settings& settings) const;
  // Whether settings are not known not to fit, or need no more than the run did.
  bool may_fit(const job::Settings& settings) const;

 private:
  void measure_memory();
  // With batches as wide as the run's.
  std::optional<predict::PlannedJob> job_of(const analysis::RankFigures& rank,
                                            const job::Settings& settings) const;

  const analysis::StepFigures* typical_ = nullptr;
  double noticeable_ns_ = 0;
  std::optional<std::int64_t> padded_width_;
  int hosts_ = 1, nodes_ = 1;
  std::int64_t peak_bytes_ = 0, usable_bytes_ = 0;
};

// Figures in sentences: "42.1 ms", "67 %".
std::string time_words(double ns);
std::string percent_words(double fraction);
// What a change does to a rank's peak: "120 MiB more per rank", "" for 0.
std::string memory_words(std::int64_t more_bytes);

// How much memory the tensors of one rank may take, as a recorded run tells it: its share of the
// device's memory, without what it held beyond its tensors (where ranks share a
// GPU: an equal part of what they all did); of the rank that has least, if `ranks` were to train
// where the run's ranks did; 1 where nothing is left. 0: not known.
std::int64_t usable_bytes(const analysis::RunFigures& figures, std::int64_t ranks);

// What collectives take whatever their size, and for each byte, from transfers of several sizes.
struct LatencyFit {  // a transfer of S bytes takes latency + S × per byte
  double latency_ns = 0, ns_per_byte = 0;

  double of(double bytes) const { return latency_ns + bytes * ns_per_byte; }
  // The size of which the latency is that share of the time.
  double bytes_with_latency_share(double share) const {
    return latency_ns * (1 - share) / share / ns_per_byte;
  }
};

// By least squares, each row of the table of collectives as often as it was matched over the ranks.
// None: no two sizes a factor of two apart, or times that do not grow with sizes.
std::optional<LatencyFit> fit_latency(
    const RunFacts& run,
    const std::function<bool(const analysis::CollectiveGroupFigures&)>& counts);

}  // namespace shardlens::trace::advice
