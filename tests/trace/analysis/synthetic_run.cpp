#include "tests/trace/analysis/synthetic_run.h"

#include <iomanip>
#include <sstream>

namespace shardlens::trace::analysis {

namespace {

constexpr std::int64_t kOrigin = 1'700'000'000'000'000'000;

class RankWriter {
 public:
  RankWriter(const SyntheticOptions& options, int rank)
      : options_(options), rank_(rank), random_(options.seed * 977u + static_cast<unsigned>(rank)) {
    batch_.strings = {{rank, 1, "world"},
                      {rank, 2, "gloo"},
                      {rank, 3, "loss"},
                      {rank, 4, "h.0.weight"},
                      {rank, 5, "wte.weight"}};
    model::ProcessGroup group{rank, 0, 1, 2, {}};
    for (int i = 0; i < options.ranks; ++i) group.ranks.push_back(i);
    batch_.process_groups = {group};
    batch_.rank_info = model::RankInfo{};
    batch_.rank_info->rank = rank;
    batch_.rank_info->parameters = batch_.rank_info->trained_parameters = 1000;
    batch_.rank_info->peak_flops = 1e12;
    batch_.cost = model::RecorderCost{rank, 40 * options.steps, 7, 123};
    batch_.buckets = {{rank, 1, 0, 1500, {4}, {1500}}, {rank, 1, 1, 2500, {5}, {2500}}};
  }

  model::Batch write() {
    std::int64_t now = kOrigin + between(0, 30);
    for (std::int64_t index = 0; index < options_.steps; ++index) {
      write_step(index, now);
      now += between(0, 20);
    }
    return std::move(batch_);
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  void write_step(std::int64_t index, std::int64_t& now) {
    const auto start = now;
    const auto quarter = options_.step_ns / 4;
    for (auto phase : {base::Phase::kData, base::Phase::kForward, base::Phase::kBackward,
                       base::Phase::kOptimizer}) {
      const auto end = now + between(quarter / 2, quarter);
      batch_.spans.push_back({rank_, 0, index, phase, 0, 0, now, end});
      now = end + between(0, 5);
    }
    write_activity(start, now);
    write_collectives(index, start, now);
    model::MemorySample sample;
    sample.rank = rank_;
    sample.time_ns = now;
    sample.step = index;
    for (auto& bytes : sample.bytes) bytes = between(0, 1000);
    batch_.memory.push_back(sample);
    batch_.steps.push_back(step_row(index, start, now));
  }

  model::Step step_row(std::int64_t index, std::int64_t start, std::int64_t end) const {
    model::Step step;
    step.rank = rank_;
    step.index = index;
    step.start_ns = start;
    step.end_ns = end;
    step.loss = 4.0 - 0.25 * static_cast<double>(index);
    step.gradient_norm = 1.5;
    step.learning_rate = 1e-3;
    step.tokens = 64 + 10 * index + rank_;
    step.samples = 4 + rank_;
    step.model_flops = 50'000 + 1000 * rank_;
    step.full_detail = options_.no_detail_every == 0 || index % options_.no_detail_every != 1;
    return step;
  }

  // Overlapping pieces that also cross the step's borders.
  void write_activity(std::int64_t start, std::int64_t end) {
    model::EventRun compute{
        rank_, 1, options_.gpu ? model::EventKind::kKernel : model::EventKind::kOperator, {}};
    model::EventRun copies{rank_, 2, model::EventKind::kCopy, {}};
    for (auto t = start - between(0, 10); t < end; t += between(5, 40)) {
      auto event = operator_event(t, t + between(1, 30), !options_.gpu);
      compute.events.push_back(event);
      if (!options_.gpu) compute.events.push_back(operator_event(t + 1, t + 50, false));
    }
    for (auto t = start; options_.gpu && t < end; t += between(30, 90)) {
      copies.events.push_back(operator_event(t, t + between(1, 20), false));
    }
    batch_.events.push_back(std::move(compute));
    if (options_.gpu) batch_.events.push_back(std::move(copies));
  }

  void write_collectives(std::int64_t index, std::int64_t start, std::int64_t end) {
    for (int bucket = 0; bucket < 3; ++bucket) {
      const auto begin = between(start, end);
      const auto finish = begin + between(5, options_.step_ns / 3);
      auto row = all_reduce(rank_, sequence_++, begin, finish,
                            bucket == 2 ? 8 : 1500 + 1000 * bucket, bucket, index);
      if (bucket == 2) {
        row.tag_kind = model::TagKind::kNamed;
        row.tag_index = -1;
        row.tag_name = 3;
      }
      batch_.collectives.push_back(row);
    }
  }

  const SyntheticOptions& options_;
  int rank_;
  std::mt19937 random_;
  std::int64_t sequence_ = 0;
  model::Batch batch_;
};

void stretch(model::Batch& batch, std::int64_t scale) {
  const auto stretched = [scale](std::int64_t& time) { time = kOrigin + (time - kOrigin) * scale; };
  for (auto& step : batch.steps) stretched(step.start_ns), stretched(step.end_ns);
  for (auto& span : batch.spans) stretched(span.start_ns), stretched(span.end_ns);
  for (auto& row : batch.collectives) stretched(row.start_ns), stretched(row.end_ns);
  for (auto& sample : batch.memory) stretched(sample.time_ns);
  for (auto& run : batch.events) {
    for (auto& event : run.events) {
      stretched(event.start_ns);
      event.duration_ns *= scale;
    }
  }
}

void print(std::ostream& out, const StepBreakdown& b) {
  out << " [" << b.start_ns << ' ' << b.step_ns << ' ' << b.compute_ns << ' '
      << b.optimizer_compute_ns << ' ' << b.comm_ns << ' ' << b.overlap_ns << ' ' << b.exposed_ns
      << ' ' << b.copy_ns << ' ' << b.exposed_copy_ns << ' ' << b.idle_ns << ' ' << b.has_detail
      << ' ' << b.bytes_sent.value_or(-1);
  for (auto phase : b.phase_ns) out << ' ' << phase;
  out << ']';
}

void print(std::ostream& out, const RunSummary& s) {
  const auto optional = [](const std::optional<double>& value) { return value.value_or(-1); };
  out << "summary " << s.steps_executed << ' ' << s.steps_measured << ' ' << s.step_ns.mean << ' '
      << s.step_ns.median << ' ' << s.step_ns.p10 << ' ' << s.step_ns.p90 << ' '
      << s.step_ns.standard_deviation << ' ' << s.tokens_per_s.value_or(-1) << ' '
      << s.samples_per_s.value_or(-1) << ' ' << optional(s.mfu) << ' ' << s.compute_ns << ' '
      << s.comm_ns << ' ' << s.overlap_ns << ' ' << s.exposed_ns << ' ' << s.optimizer_compute_ns
      << ' ' << s.copy_ns << ' ' << s.exposed_copy_ns << ' ' << s.idle_ns << ' ' << s.has_detail
      << ' ' << optional(s.overlap_fraction) << ' ' << optional(s.bytes_sent_per_step) << ' '
      << optional(s.bytes_sent_per_step_theory) << ' ' << optional(s.loss_first) << ' '
      << optional(s.loss_last);
  for (auto phase : s.phase_ns) out << ' ' << phase.value_or(-1);
  out << '\n';
}

void print(std::ostream& out, const RankFigures& r) {
  out << "rank " << r.info.rank << ' ' << r.step_ns << ' ' << r.exposed_ns << " now "
      << r.now.time_ns << " peak " << r.peak.time_ns << ' ' << r.peak.total_bytes() << " totals "
      << r.totals.comm_events << ' ' << r.totals.compute_events << ' ' << r.totals.memory_events
      << ' ' << r.totals.span_ns << ' ' << r.totals.busy_ns << ' ' << r.totals.compute_ns << ' '
      << r.totals.comm_ns << ' ' << r.totals.overlap_ns << ' ' << r.totals.exposed_ns << ' '
      << r.totals.idle_ns << " recent " << r.recent_completed.size() << " last "
      << (r.last_completed ? r.last_completed->sequence : -1);
  for (auto bytes : r.category_peaks) out << ' ' << bytes;
  for (auto bytes : r.estimate) out << ' ' << bytes;
  out << '\n';
}

}  // namespace

model::Event operator_event(std::int64_t start_ns, std::int64_t end_ns, bool compute) {
  model::Event event;
  event.start_ns = start_ns;
  event.duration_ns = end_ns - start_ns;
  event.flags = model::kEventLeaf | (compute ? model::kEventCompute : 0);
  return event;
}

model::Collective all_reduce(int rank, std::int64_t sequence, std::int64_t start_ns,
                             std::int64_t end_ns, std::int64_t bytes, int bucket,
                             std::int64_t step) {
  model::Collective row;
  row.rank = rank;
  row.step = step;
  row.sequence = sequence;
  row.function = model::CollectiveFunction::kAllReduce;
  row.executed = model::CollectiveFunction::kAllReduce;
  row.tag_kind = model::TagKind::kBucket;
  row.tag_index = bucket;
  row.phase = base::Phase::kBackward;
  row.bytes = bytes;
  row.enqueued_ns = start_ns;
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  return row;
}

SyntheticRun make_run(const SyntheticOptions& options) {
  SyntheticRun run;
  run.info.name = "synthetic";
  run.info.world_size = options.ranks;
  run.info.settings.ranks = options.ranks;
  run.info.settings.skip_steps = options.skip_steps;
  for (int rank = 0; rank < options.ranks; ++rank) {
    run.ranks.push_back(RankWriter(options, rank).write());
    stretch(run.ranks.back(), options.scale);
  }
  return run;
}

StepBreakdown count_breakdown(const model::Batch& rank, const model::Step& step) {
  StepBreakdown result;
  result.start_ns = step.start_ns;
  result.step_ns = step.end_ns - step.start_ns;
  result.has_detail = step.full_detail;
  for (auto t = step.start_ns; t < step.end_ns; ++t) {
    const auto covers = [t](std::int64_t start, std::int64_t end) { return start <= t && t < end; };
    bool compute = false, communication = false, copy = false;
    for (const auto& run : rank.events) {
      for (const auto& event : run.events) {
        if (!covers(event.start_ns, event.end_ns())) continue;
        copy = copy || run.kind == model::EventKind::kCopy;
        compute =
            compute || run.kind == model::EventKind::kKernel ||
            (run.kind == model::EventKind::kOperator && (event.flags & model::kEventCompute) != 0);
      }
    }
    for (const auto& row : rank.collectives) {
      communication = communication || covers(row.start_ns, row.end_ns);
    }
    auto phase = base::Phase::kOther;
    for (const auto& span : rank.spans) {
      if (covers(span.start_ns, span.end_ns)) phase = span.phase;
    }
    ++result.phase_ns[static_cast<std::size_t>(phase)];
    if (!step.full_detail) continue;
    result.compute_ns += compute;
    result.optimizer_compute_ns += compute && phase == base::Phase::kOptimizer;
    result.optimizer_overlap_ns += compute && communication && phase == base::Phase::kOptimizer;
    result.comm_ns += communication;
    result.overlap_ns += communication && compute;
    result.exposed_ns += communication && !compute;
    result.exposed_phase_ns[static_cast<std::size_t>(phase)] += communication && !compute;
    result.copy_ns += copy;
    result.exposed_copy_ns += copy && !compute && !communication;
    result.idle_ns += !copy && !compute && !communication;
  }
  return result;
}

std::vector<model::Batch> one_by_one(const model::Batch& rank) {
  std::vector<model::Batch> result;
  model::Batch first = rank;
  first.steps.clear();
  first.spans.clear();
  first.collectives.clear();
  first.memory.clear();
  first.events.clear();
  result.push_back(std::move(first));
  const auto events_per_step = rank.steps.empty() ? 0 : rank.events.size() / rank.steps.size();
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    const auto index = rank.steps[i].index;
    for (const auto& span : rank.spans) {
      if (span.step == index) result.emplace_back().spans = {span};
    }
    for (std::size_t k = 0; k < events_per_step; ++k) {
      const auto& run = rank.events[i * events_per_step + k];
      for (const auto& event : run.events) {
        result.emplace_back().events = {{run.rank, run.lane, run.kind, {event}}};
      }
    }
    for (const auto& row : rank.collectives) {
      if (row.step == index) result.emplace_back().collectives = {row};
    }
    result.emplace_back().memory = {rank.memory[i]};
    result.emplace_back().steps = {rank.steps[i]};
  }
  return result;
}

std::string dump(const RunFigures& figures) {
  std::ostringstream out;
  out << std::setprecision(17);
  print(out, figures.summary);
  for (const auto& rank : figures.ranks) print(out, rank);
  for (const auto& step : figures.steps) {
    out << "step " << step.index << ' ' << step.warmup << step.complete << ' ' << step.start_ns
        << ' ' << step.end_ns << ' ' << step.slowest_rank << ' ' << step.loss << ' '
        << step.gradient_norm << ' ' << step.tokens.value_or(-1) << ' '
        << step.model_flops.value_or(-1);
    for (const auto& rank : step.ranks) print(out, rank);
    out << '\n';
  }
  for (const auto& row : figures.collectives) {
    out << "collective " << model::to_string(row.function) << ' ' << row.tag << ' ' << row.bytes
        << ' ' << row.count << ' ' << row.median_ns << ' ' << row.wait_ns << ' ' << row.transfer_ns
        << ' ' << row.algbw_bytes_per_s << ' ' << row.busbw_bytes_per_s << ' ' << row.exposed_ns
        << '\n';
  }
  for (const auto& bucket : figures.buckets) {
    out << "bucket " << bucket.index << ' ' << bucket.bytes << ' ' << bucket.oversize_reason
        << '\n';
  }
  out << "recorder " << figures.recorder.overhead_fraction.value_or(-1) << ' '
      << figures.recorder.events.value_or(-1) << ' ' << figures.recorder.lost << " ignored "
      << figures.ignored_rows << '\n';
  return out.str();
}

}  // namespace shardlens::trace::analysis
