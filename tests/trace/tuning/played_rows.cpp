#include "tests/trace/tuning/played_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace shardlens::trace::tuning {

namespace {

using model::CollectiveFunction;
using predict::Deed;

std::int64_t nanoseconds(double ns) { return std::llround(ns); }

// Names of strings, by place + 1.
class Strings {
 public:
  explicit Strings(int rank) : rank_(rank) {}
  model::StringId id(const std::string& text, model::Batch& batch) {
    const auto [found, is_new] =
        ids_.try_emplace(text, static_cast<model::StringId>(ids_.size() + 1));
    if (is_new) batch.strings.push_back({rank_, found->second, text});
    return found->second;
  }

 private:
  int rank_;
  std::map<std::string, model::StringId> ids_;
};

// Of one rank.
class StepRows {
 public:
  StepRows(const PlayedScript& script, const predict::Played& played, std::int64_t step, int rank)
      : script_(script),
        played_(played),
        deeds_(script.ranks[static_cast<std::size_t>(rank)].deeds),
        times_(played.deeds[static_cast<std::size_t>(rank)]),
        begin_ns_(script.ranks[static_cast<std::size_t>(rank)].begin_ns),
        strings_(rank) {
    row_.rank = rank;
    row_.index = step;
    row_.start_ns = before(0);
    row_.end_ns = before(deeds_.size());
    row_.full_detail = true;
    events_.rank = rank;
  }

  model::Batch write() {
    batch_.steps.push_back(row_);
    add_computation();
    add_phases_and_gradients();
    batch_.events.push_back(events_);
    add_calls();
    return std::move(batch_);
  }

 private:
  using Mark = PlayedScript::Mark;

  std::int64_t before(std::size_t deed) const {
    return nanoseconds(deed == 0 ? begin_ns_ : times_[deed - 1].end_ns);
  }

  model::Event& add_event(std::int64_t start_ns, std::int64_t end_ns) {
    model::Event& event = events_.events.emplace_back();
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    return event;
  }

  void add_computation() {
    for (std::size_t i = 0; i < deeds_.size(); ++i) {
      if (deeds_[i].what != Deed::What::kCompute || deeds_[i].ns <= 0) continue;
      add_event(nanoseconds(times_[i].start_ns), nanoseconds(times_[i].end_ns)).flags =
          model::kEventCompute;
    }
  }

  void add_span(base::Phase phase, std::int64_t start_ns, std::int64_t end_ns) {
    model::Span& span = batch_.spans.emplace_back();
    span.rank = row_.rank;
    span.step = row_.index;
    span.phase = phase;
    span.start_ns = start_ns;
    span.end_ns = end_ns;
  }

  void add_phases_and_gradients() {
    const auto accumulate =
        strings_.id("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", batch_);
    std::int64_t phase_ns = 0;  // when the one began that ends next
    for (const auto& [moment, deed] : script_.moments) {
      const std::int64_t now = before(deed);
      switch (moment) {
        case Mark::kForwardBegin:
        case Mark::kBackwardBegin:
          phase_ns = now;
          break;
        case Mark::kForwardEnd:
          add_span(base::Phase::kForward, phase_ns, now);
          break;
        case Mark::kBackwardEnd:
          add_span(base::Phase::kBackward, phase_ns, now);
          break;
        case Mark::kOptimizerBegin:
          add_span(base::Phase::kOptimizer, now, row_.end_ns);
          break;
        case Mark::kGradient:
          add_event(now - 1000, now).name = accumulate;
          break;
      }
    }
  }

  void add_calls() {
    std::vector<std::int64_t> launched(script_.calls.size());
    for (std::size_t i = 0; i < deeds_.size(); ++i) {
      if (deeds_[i].what == Deed::What::kLaunch) {
        launched[deeds_[i].call] = nanoseconds(times_[i].end_ns);
      }
    }
    std::map<std::size_t, std::int64_t> free_ns;  // by lane
    for (std::size_t i = 0; i < script_.calls.size(); ++i) {
      const PlayedScript::Name& name = script_.names[i];
      const std::size_t lane = script_.calls[i].lane;
      model::Collective& call = batch_.collectives.emplace_back();
      call.rank = row_.rank;
      call.step = row_.index;
      call.process_group = static_cast<int>(lane);
      call.sequence = (row_.index + 1) * 100'000 + static_cast<std::int64_t>(i);
      call.function = call.executed = name.function;
      if (name.function == CollectiveFunction::kReduceScatter) {
        call.executed = CollectiveFunction::kAllReduce;
      }
      call.tag_kind = name.kind;
      call.tag_index = name.index;
      if (!name.tag.empty()) call.tag_name = strings_.id(name.tag, batch_);
      call.bytes = name.bytes;
      call.enqueued_ns = launched[i];
      call.start_ns = std::max(launched[i], free_ns[lane]);
      call.end_ns = free_ns[lane] = nanoseconds(played_.calls[i].end_ns);
    }
  }

  const PlayedScript& script_;
  const predict::Played& played_;
  const decltype(predict::PlayedRank::deeds)& deeds_;
  const decltype(predict::Played::deeds)::value_type& times_;
  double begin_ns_;
  Strings strings_;
  model::Step row_;
  model::EventRun events_;
  model::Batch batch_;
};

}  // namespace

void add_sums(double latency_ns, double ns_per_byte, int rank, model::Batch& batch) {
  for (std::int64_t bytes = 4, i = 0; bytes <= (1 << 28); bytes *= 4, ++i) {
    model::Collective& call = batch.collectives.emplace_back();
    call.rank = rank;
    call.sequence = i;
    call.function = call.executed = CollectiveFunction::kAllReduce;
    call.bytes = bytes;
    call.start_ns = call.enqueued_ns = (i + 1) * 10'000'000'000;
    call.end_ns =
        call.start_ns + nanoseconds(latency_ns + ns_per_byte * static_cast<double>(bytes));
  }
}

void add_units(std::size_t count, int rank, model::Batch& batch) {
  for (int unit = 0; unit < static_cast<int>(count); ++unit) {
    model::Unit& row = batch.units.emplace_back();
    row.rank = rank;
    row.index = unit;
    row.name = static_cast<model::StringId>(1000 + unit);
    batch.strings.push_back({rank, row.name, "unit" + std::to_string(unit)});
  }
}

void add_buckets(const PlayedScript& script, int rank, model::Batch& batch) {
  for (std::size_t i = 0; i < script.buckets.size(); ++i) {
    model::Bucket& bucket = batch.buckets.emplace_back();
    bucket.rank = rank;
    bucket.plan = 1;
    bucket.index = static_cast<int>(i);
    for (const std::size_t gradient : script.buckets[i]) {
      const auto& [parameter, bytes] = script.gradients[gradient];
      const auto id = static_cast<model::StringId>(2000 + gradient);
      batch.strings.push_back({rank, id, parameter});
      bucket.parameters.push_back(id);
      bucket.parameter_bytes.push_back(bytes);
      bucket.bytes += bytes;
    }
  }
}

model::Batch rows_of_step(const PlayedScript& script, const predict::Played& played,
                          std::int64_t step, int rank) {
  return StepRows(script, played, step, rank).write();
}

}  // namespace shardlens::trace::tuning
