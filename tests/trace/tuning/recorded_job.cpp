#include "tests/trace/tuning/recorded_job.h"

#include <array>

#include "trace/model/batch.h"

namespace shardlens::trace::tuning {

namespace {

constexpr int kGradient = 1;
constexpr std::array<std::int64_t, 4> kReadyMs{40, 60, 80, 100};

std::int64_t start_of(std::int64_t step) { return (step + 1) * 200 * kMs; }
std::int64_t length_of(std::int64_t step) { return 150 * kMs + step % 2 * kMs / 10; }

model::Batch rows_of(int rank, std::int64_t step) {
  model::Batch batch;
  model::Step row;
  row.rank = rank;
  row.index = step;
  row.start_ns = start_of(step);
  row.end_ns = row.start_ns + length_of(step);
  row.full_detail = true;
  batch.steps.push_back(row);
  model::Span backward;
  backward.rank = rank;
  backward.phase = base::Phase::kBackward;
  backward.start_ns = row.start_ns + 30 * kMs;
  backward.end_ns = row.start_ns + 120 * kMs;
  batch.spans.push_back(backward);
  model::Span forward = backward;
  forward.phase = base::Phase::kForward;
  forward.start_ns = row.start_ns + 5 * kMs;
  forward.end_ns = row.start_ns + 30 * kMs;
  batch.spans.push_back(forward);
  model::EventRun run;
  run.rank = rank;
  for (const std::int64_t ms : kReadyMs) {
    model::Event event;
    event.start_ns = row.start_ns + (ms - 1 + 2 * rank) * kMs;
    event.duration_ns = kMs;
    event.name = kGradient;
    run.events.push_back(event);
  }
  batch.events.push_back(run);
  return batch;
}

model::Collective reduction(int rank, std::int64_t sequence, std::int64_t bytes,
                            std::int64_t latest_start_ns, std::int64_t transfer_ns) {
  model::Collective call;
  call.rank = rank;
  call.sequence = sequence;
  call.tag_kind = model::TagKind::kBucket;
  call.bytes = bytes;
  call.start_ns = latest_start_ns - (1 - rank) * 2 * kMs;
  call.end_ns = latest_start_ns + transfer_ns;
  return call;
}

model::Batch first_rows(int rank) {
  model::Batch batch;
  batch.strings.push_back(
      {rank, kGradient, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"});
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

}  // namespace

RecordedJob::RecordedJob() {
  model::RunInfo& info = figures.info;
  info.world_size = 2;
  info.device = "cpu";
  info.settings.sharding_strategy = job::Strategy::kDdp;
  info.settings.ranks = 2;
  info.settings.bucket_cap_mb = 1;
  info.settings.skip_steps = 0;
  figures.summary.has_detail = true;
  figures.summary.exposed_ns = 12.0 * kMs;
}

predict::RecordedSteps RecordedJob::record() {
  predict::RecordedSteps recorded(2, figures.info.settings.skip_steps);
  std::int64_t sequence = 0;
  for (int rank : {0, 1}) recorded.learn(first_rows(rank));
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t bytes = step == 0 ? 4 * kMib : kMib;
    analysis::StepFigures figure;
    figure.index = step;
    figure.complete = true;
    for (int rank : {0, 1}) {
      model::Batch batch = rows_of(rank, step);
      for (std::int64_t call = 0; call < 4 * kMib / bytes; ++call) {
        const std::int64_t at = start_of(step) + (50 + 20 * call) * kMs;
        batch.collectives.push_back(
            reduction(rank, sequence + call, bytes, at, transfer_ns.at(bytes)));
      }
      recorded.learn(batch);
      analysis::StepBreakdown breakdown;
      breakdown.step_ns = length_of(step);
      figure.ranks.push_back(breakdown);
    }
    figures.steps.push_back(figure);
    sequence += 4;
  }
  return recorded;
}

}  // namespace shardlens::trace::tuning
