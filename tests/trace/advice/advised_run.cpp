#include "tests/trace/advice/advised_run.h"

#include <algorithm>
#include <stdexcept>

#include "trace/analysis/figures/run_summary.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"

namespace shardlens::trace::advice {

AdvisedRun::AdvisedRun() {
  breakdown = [](std::int64_t, int, analysis::StepBreakdown& own) {
    own.compute_ns = own.step_ns - 20 * kMs;
    own.comm_ns = own.exposed_ns = 12 * kMs;
    own.idle_ns = 8 * kMs;
  };
  set_buckets({{kMib}, {kMib}, {kMib}, {kMib}});
}

void AdvisedRun::add_collective(const std::string& tag, std::int64_t bytes, double transfer_ns,
                                double exposed_ns) {
  analysis::CollectiveGroupFigures row;
  row.function = row.executed = model::CollectiveFunction::kAllReduce;
  row.tag = tag;
  row.bytes = bytes;
  row.count = row.matched = 40;
  row.median_ns = row.transfer_ns = transfer_ns;
  row.algbw_bytes_per_s = row.busbw_bytes_per_s =
      transfer_ns > 0 ? static_cast<double>(bytes) / transfer_ns * 1e9 : 0;
  row.exposed_ns = exposed_ns;
  figures().collectives.push_back(row);
}

void AdvisedRun::set_buckets(const std::vector<std::vector<std::int64_t>>& tensors) {
  figures().buckets.clear();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    analysis::BucketFigures bucket;
    bucket.index = static_cast<int>(i);
    bucket.parameter_bytes = tensors[i];
    for (std::size_t j = 0; j < tensors[i].size(); ++j) {
      bucket.bytes += tensors[i][j];
      bucket.parameters.push_back("blocks." + std::to_string(i) + ".weight" + std::to_string(j));
    }
    figures().buckets.push_back(bucket);
  }
}

void AdvisedRun::set_memory(std::int64_t device_bytes) {
  settings().model = "small";
  const auto shape = job::find_model_preset("small");
  figures().ranks.assign(2, {});
  for (int rank : {0, 1}) {
    auto& own = figures().ranks[static_cast<std::size_t>(rank)];
    own.info.rank = rank;
    own.info.host = "here";
    own.info.model = job::shape_text(*shape);
    own.info.parameters = job::trained_share(*shape, settings()).all;
    own.has_step_memory = true;
    own.peak.device_total_bytes = 2 * device_bytes;  // of two ranks on one host
    own.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = 100 * kMib;
    own.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] = 400 * kMib;
  }
}

void AdvisedRun::make() {
  const auto recorded = job.record();
  figures().ranks.resize(2);
  for (auto& rank : figures().ranks) rank.info.device = "cpu";
  sample_.emplace();
  for (auto& step : figures().steps) {
    for (int rank : {0, 1}) {
      auto& own = step.ranks[static_cast<std::size_t>(rank)];
      own.has_detail = true;
      own.start_ns = tuning::begin_of_step(step.index);
      breakdown(step.index, rank, own);
      step.exposed_wait_ns.push_back(wait_ns(step.index, rank));
    }
    step.start_ns = step.ranks[0].start_ns;
    step.end_ns = step.start_ns + step.ranks[0].step_ns;
  }
  figures().summary = analysis::summarize(figures().info, figures().steps, figures().ranks);
  change(figures());
  if (events) {
    for (const auto* step : StepSample::choose(figures())) {
      for (int rank : {0, 1}) {
        const model::Batch batch = events(*step, rank);
        sample_->learn_facts(batch);
        sample_->add(*step, batch);
      }
    }
  }
  if (predicts) {
    auto predictor = tuning::Predictor::create(figures(), recorded);
    if (!predictor) throw std::runtime_error(predictor.error().message);
    predictor_.emplace(std::move(*predictor));
  }
}

const RunFacts& AdvisedRun::facts() {
  if (!facts_) {
    make();
    facts_.emplace(figures(), *sample_, predictor_ ? &*predictor_ : nullptr, refused);
  }
  return *facts_;
}

std::vector<Advice> AdvisedRun::advise() { return advice::advise(facts()); }

std::optional<Advice> of_rule(const std::vector<Advice>& all, std::string_view rule) {
  const auto found = std::ranges::find(all, rule, &Advice::rule);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::optional<Advice> asked(AdvisedRun& run, std::string_view rule) {
  const auto found = std::ranges::find(rules(), rule, &Rule::id);
  if (found == rules().end()) throw std::runtime_error("no rule " + std::string(rule));
  return found->speak(run.facts());
}

}  // namespace shardlens::trace::advice
