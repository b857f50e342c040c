#include "tests/trace/tuning/recorded_job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "trace/base/intervals.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/shape_text.h"
#include "trace/model/batch.h"

namespace shardlens::trace::tuning {

namespace {

constexpr int kGradient = 1, kProduct = 2, kAttention = 3;  // names
constexpr std::array<std::int64_t, 4> kReadyMs{40, 60, 80, 100};

constexpr std::int64_t kLateMs = 2;      // of rank 1
constexpr std::int64_t kLossBytes = 40;  // of two ranks

std::int64_t ready_ns(int rank, std::int64_t step, std::size_t gradient) {
  return begin_of_step(step) + (kReadyMs[gradient] + kLateMs * rank) * kMs;
}

model::Event operation(std::int64_t start_ns, std::int64_t end_ns) {
  model::Event event;
  event.start_ns = start_ns;
  event.duration_ns = end_ns - start_ns;
  return event;
}

model::Batch rows_of(int rank, std::int64_t step, std::int64_t backward_end_ns,
                     const RecordedJob& job) {
  model::Batch batch;
  model::Step row;
  row.rank = rank;
  row.index = step;
  row.start_ns = begin_of_step(step);
  row.end_ns = backward_end_ns + 38 * kMs + step % 2 * kMs / 10;
  row.full_detail = true;
  batch.steps.push_back(row);
  model::Span backward;
  backward.rank = rank;
  backward.phase = base::Phase::kBackward;
  backward.start_ns = row.start_ns + 30 * kMs;
  backward.end_ns = backward_end_ns;
  batch.spans.push_back(backward);
  model::Span forward = backward;
  forward.phase = base::Phase::kForward;
  forward.start_ns = row.start_ns + 5 * kMs;
  forward.end_ns = row.start_ns + 30 * kMs;
  batch.spans.push_back(forward);
  model::EventRun run;
  run.rank = rank;
  const std::int64_t end_ns = ready_ns(rank, step, kReadyMs.size() - 1);
  const std::int64_t attends_until_ns =
      forward.start_ns +
      std::llround(job.attention * static_cast<double>(end_ns - forward.start_ns));
  for (const auto& [name, time] :
       {std::pair{kAttention, base::Interval{forward.start_ns, attends_until_ns}},
        {kProduct, {attends_until_ns, end_ns}}}) {
    if (time.start_ns == time.end_ns) continue;
    run.events.push_back(operation(time.start_ns, time.end_ns));
    run.events.back().name = name;
    run.events.back().flags = model::kEventCompute;
  }
  for (std::size_t i = 0; i < kReadyMs.size(); ++i) {
    const std::int64_t ready = ready_ns(rank, step, i);
    run.events.push_back(operation(ready - job.gradient_ns, ready));
    run.events.back().name = kGradient;
  }
  batch.events.push_back(run);
  return batch;
}

// As soon as its last gradient is ready on rank 1 and the one before has ended.
std::vector<base::Interval> reductions_of(std::int64_t step, bool overlaps, std::int64_t bytes,
                                          std::int64_t transfer_ns, std::int64_t core_delay_ns) {
  std::vector<base::Interval> calls;
  const auto gradients = static_cast<std::size_t>(bytes / kMib);
  for (std::size_t end = gradients; end <= kReadyMs.size(); end += gradients) {
    const std::size_t last = overlaps ? end - 1 : kReadyMs.size() - 1;
    const std::int64_t free_ns = calls.empty() ? 0 : calls.back().end_ns;
    const std::int64_t start = std::max(ready_ns(1, step, last), free_ns);
    const bool is_beside = overlaps && end < kReadyMs.size();
    calls.push_back({start, start + transfer_ns + (is_beside ? core_delay_ns : 0)});
  }
  return calls;
}

model::Collective reduction(int rank, std::int64_t sequence, std::int64_t bytes,
                            const base::Interval& time) {
  model::Collective call;
  call.rank = rank;
  call.sequence = sequence;
  call.function = call.executed = model::CollectiveFunction::kAllReduce;
  call.tag_kind = model::TagKind::kBucket;
  call.bytes = bytes;
  call.start_ns = call.enqueued_ns = time.start_ns - (1 - rank) * kLateMs * kMs;
  call.end_ns = time.end_ns;
  return call;
}

void add_optimizer(int rank, const base::Interval& time, model::Batch& batch) {
  model::Span span;
  span.rank = rank;
  span.phase = base::Phase::kOptimizer;
  span.start_ns = time.start_ns;
  span.end_ns = time.end_ns;
  batch.spans.push_back(span);
  model::EventRun& run = batch.events.front();
  run.events.push_back(operation(time.start_ns, time.end_ns));
  run.events.back().name = kProduct;
  run.events.back().flags = model::kEventCompute;
}

model::Batch first_rows(int rank) {
  model::Batch batch;
  batch.strings.push_back(
      {rank, kGradient, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"});
  batch.strings.push_back({rank, kProduct, "aten::mm"});
  batch.strings.push_back({rank, kAttention, "aten::_scaled_dot_product_flash_attention_for_cpu"});
  for (int plan : {0, 1}) {
    const int buckets = plan == 0 ? 1 : 4;
    for (int i = 0; i < buckets; ++i) {
      model::Bucket bucket;
      bucket.rank = rank;
      bucket.plan = plan;
      bucket.index = i;
      bucket.parameter_bytes.assign(static_cast<std::size_t>(4 / buckets), kMib);
      bucket.bytes = kMib * (4 / buckets);
      batch.buckets.push_back(bucket);
    }
  }
  return batch;
}

void tell_texts(const RecordedJob& job, analysis::StepFigures& figure) {
  const job::Settings& settings = job.figures.info.settings;
  const auto shape = *job::parse_shape_text(job.figures.ranks.front().info.model);
  const std::int64_t samples =
      settings.batch_per_rank * settings.gradient_accumulation_steps * settings.ranks;
  figure.samples = samples;
  figure.tokens = samples * job.text_tokens;
  figure.model_flops = samples * job.width * job::flops_per_token(shape, settings, job.width);
}

}  // namespace

RecordedJob::RecordedJob() {
  model::RunInfo& info = figures.info;
  info.status = model::RunStatus::kDone;
  info.world_size = 2;
  info.device = "cpu";
  info.settings.sharding_strategy = job::Strategy::kDdp;
  info.settings.ranks = 2;
  info.settings.bucket_cap_mb = 1;
  info.settings.skip_steps = 1;
  figures.summary.has_detail = true;
  figures.summary.exposed_ns = 12.0 * kMs;
}

predict::RecordedSteps RecordedJob::record() {
  const job::Settings& settings = figures.info.settings;
  predict::RecordedSteps recorded(2, settings.skip_steps);
  std::int64_t sequence = 0;
  for (int rank : {0, 1}) recorded.learn(first_rows(rank));
  for (std::int64_t step = 0; step <= steps; ++step) {
    const std::int64_t bytes = step == 0 ? 4 * kMib : kMib;
    const std::int64_t took_ns = transfer_ns.at(bytes) + (step == steps ? held_up_ns : 0);
    const auto calls = reductions_of(step, settings.overlap_comm, bytes, took_ns, core_delay_ns);
    analysis::StepFigures figure;
    figure.index = step;
    figure.complete = true;
    if (text_tokens > 0) tell_texts(*this, figure);
    for (int rank : {0, 1}) {
      model::Batch batch = rows_of(rank, step, calls.back().end_ns, *this);
      const std::int64_t update_ns = optimizer_ns[static_cast<std::size_t>(rank)];
      const std::int64_t from_ns = calls.back().end_ns;
      if (update_ns > 0) add_optimizer(rank, {from_ns, from_ns + update_ns}, batch);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        batch.collectives.push_back(
            reduction(rank, sequence + static_cast<std::int64_t>(i), bytes, calls[i]));
      }
      if (loss_ns > 0) {
        const std::int64_t at_ns = from_ns + 30 * kMs;
        model::Collective loss =
            reduction(rank, sequence + std::ssize(calls), kLossBytes, {at_ns, at_ns + loss_ns});
        loss.tag_kind = model::TagKind::kNamed;
        batch.collectives.push_back(loss);
      }
      recorded.learn(batch);
      analysis::StepBreakdown breakdown;
      breakdown.step_ns = batch.steps.front().end_ns - batch.steps.front().start_ns;
      figure.ranks.push_back(breakdown);
    }
    // The first is not measured.
    if (step >= settings.skip_steps) figures.steps.push_back(figure);
    sequence += std::ssize(calls) + (loss_ns > 0 ? 1 : 0);
  }
  return recorded;
}

}  // namespace shardlens::trace::tuning
