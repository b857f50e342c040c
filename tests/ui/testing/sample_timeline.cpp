#include "tests/ui/testing/sample_timeline.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

using trace::Bar;
using trace::RankTimeline;
using trace::TimeClass;

struct Interval {
  std::int64_t start = 0, end = 0;
};

std::int64_t covered(const std::vector<Interval>& busy, std::int64_t start, std::int64_t end) {
  std::int64_t sum = 0;
  for (const Interval& interval : busy) {
    sum += std::max<std::int64_t>(0, std::min(interval.end, end) - std::max(interval.start, start));
  }
  return sum;
}

class RankBuilder {
 public:
  RankBuilder(const SampleStep& step, int rank)
      : step_(step), random_(static_cast<unsigned>(step.index * 31 + rank)) {
    out_.rank = rank;
    out_.device = step.gpu ? "cuda:" + std::to_string(rank) : "cpu";
    start_ = static_cast<std::int64_t>(static_cast<double>(rank) * 0.004 * ns());
  }

  RankTimeline build() {
    out_.start_ns = start_;
    const auto data = at(0.02), forward = at(0.31), backward = at(0.86), end = at(0.965);
    add_phase(start_, data, TimeClass::kData, "data");
    add_phase(data + at_length(0.002), forward, TimeClass::kForward, "forward");
    add_phase(forward + at_length(0.002), backward, TimeClass::kBackward, "backward");
    fill_compute(data + at_length(0.004), forward, TimeClass::kCompute);
    fill_compute(forward + at_length(0.004), at(0.72), TimeClass::kCompute);
    const auto communication_end =
        step_.blocks > 0 ? add_units(data, forward) : add_buckets(forward);
    const auto optimizer = std::max(communication_end, at(0.86)) + at_length(0.004);
    out_.phases.back().end_ns = optimizer - at_length(0.003);
    add_phase(optimizer, optimizer + end - at(0.86), TimeClass::kOptimizerPhase, "optimizer");
    fill_compute(optimizer + at_length(0.002), optimizer + end - at(0.86), TimeClass::kOptimizer);
    out_.end_ns = optimizer + end - at(0.86) + at_length(0.005);
    add_ribbon();
    return std::move(out_);
  }

 private:
  double ns() const { return step_.milliseconds * 1e6; }
  std::int64_t at(double fraction) const { return start_ + at_length(fraction); }
  std::int64_t at_length(double fraction) const {
    return static_cast<std::int64_t>(fraction * ns());
  }

  void add_phase(std::int64_t from, std::int64_t to, TimeClass bar_class, std::string name) {
    out_.phases.push_back({from, to, bar_class, 0, std::move(name), -1});
  }

  void fill_compute(std::int64_t from, std::int64_t to, TimeClass bar_class) {
    static const char* const kNames[] = {"aten::addmm",
                                         "aten::gelu",
                                         "aten::native_layer_norm",
                                         "aten::_scaled_dot_product_flash_attention",
                                         "aten::mm",
                                         "aten::add"};
    // By default a step has some 150 operators, with a mean of 0.6 % of it between their starts.
    const double scale = step_.operators > 0 ? 150.0 / step_.operators : 1;
    std::uniform_real_distribution<double> length(0.0006 * scale, 0.011 * scale),
        gap(0.0, 0.0012 * scale);
    std::uniform_int_distribution<int> name(0, 5);
    std::int64_t cursor = from;
    while (cursor < to) {
      const auto end = std::min(to, cursor + at_length(length(random_)));
      out_.compute.push_back({cursor, end, bar_class, 0, kNames[name(random_)], -1});
      compute_.push_back({cursor, end});
      cursor = end + at_length(gap(random_));
    }
  }

  std::int64_t add_buckets(std::int64_t backward_start) {
    std::int64_t total = 0;
    for (const auto bytes : step_.bucket_bytes) total += bytes;
    const double per_byte = 0.47 * ns() / static_cast<double>(total);
    std::int64_t link_free = 0;
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < step_.bucket_bytes.size(); ++i) {
      const std::int64_t bytes = step_.bucket_bytes[i];
      seen += bytes;
      const double share = static_cast<double>(seen) / static_cast<double>(total);
      const auto ready = backward_start + at_length(0.03 + 0.39 * std::min(1.0, share * 1.2));
      const auto late = static_cast<std::int64_t>(step_.late_milliseconds * 1e6);
      const bool last_rank = out_.rank == step_.ranks - 1;
      const auto start = std::max(link_free, ready + at_length(0.002)) + (last_rank ? late : 0);
      const auto latest = last_rank ? start : start + late + at_length(0.003);
      const auto end = latest + static_cast<std::int64_t>(static_cast<double>(bytes) * per_byte);
      add_collective(static_cast<int>(i), bytes, ready, start, latest, end);
      link_free = end + at_length(0.001);
    }
    return link_free;
  }

  void add_collective(int bucket, std::int64_t bytes, std::int64_t ready, std::int64_t start,
                      std::int64_t latest, std::int64_t end) {
    trace::ReadyMark mark{
        ready, trace::TagKind::kBucket, bucket, "bucket " + std::to_string(bucket), bytes, ""};
    if (step_.bucket_cap > 0 && bytes > 2 * step_.bucket_cap) {
      mark.note = "wte.weight " + format_bytes(static_cast<double>(bytes) * 0.875).text() +
                  ": a tensor is never split";
    }
    out_.ready.push_back(mark);
    trace::CollectiveBar bar;
    bar.event.rank = out_.rank;
    bar.event.step = step_.index;
    bar.event.sequence = step_.index * 16 + bucket;
    bar.event.function = bar.event.executed = trace::CollectiveFunction::kAllReduce;
    bar.event.tag_kind = trace::TagKind::kBucket;
    bar.event.tag_index = bucket;
    bar.event.bytes = bytes;
    bar.label = "bucket " + std::to_string(bucket);
    bar.start_ns = start;
    bar.waits_until_ns = latest;
    bar.end_ns = end;
    bar.overlapped_ns = covered(compute_, start, end);
    bar.exposed_ns = end - start - bar.overlapped_ns;
    const int index = static_cast<int>(out_.collectives.size());
    const auto border = std::clamp(compute_.back().end, start, end);
    if (border > start)
      out_.communication.push_back({start, border, TimeClass::kOverlapped, 0, "", index});
    if (end > border)
      out_.communication.push_back({border, end, TimeClass::kExposed, 0, "", index});
    out_.collectives.push_back(bar);
  }

  std::shared_ptr<const trace::UnitFigures> unit(int index) const {
    trace::UnitFigures figures;
    figures.index = index;
    figures.name = index == 0 ? "root" : "blocks." + std::to_string(index - 1);
    figures.bytes = figures.reduced_bytes = std::int64_t{index == 0 ? 3 : 7} << 20;
    figures.shard_count = step_.ranks;
    figures.shard_bytes = figures.bytes / step_.ranks;
    figures.parameters = {figures.name + ".attn.weight", figures.name + ".attn.bias",
                          figures.name + ".mlp.weight"};
    return std::make_shared<const trace::UnitFigures>(std::move(figures));
  }

  // What one unit needs at `start`; returns its end.
  std::int64_t add_unit(int index, const std::string& what, trace::CollectiveFunction function,
                        int group, std::int64_t start, double length) {
    trace::CollectiveBar bar;
    bar.unit = unit(index);
    bar.event.rank = out_.rank;
    bar.event.step = step_.index;
    bar.event.sequence = static_cast<std::int64_t>(out_.collectives.size());
    bar.event.process_group = group;
    bar.event.function = bar.event.executed = function;
    bar.event.tag_kind = trace::TagKind::kUnit;
    bar.event.tag_index = index;
    bar.event.bytes = bar.unit->bytes;
    bar.label = bar.unit->name + " " + what;
    bar.start_ns = start;
    bar.waits_until_ns = start + at_length(0.002);
    bar.end_ns = start + at_length(length);
    bar.overlapped_ns = covered(compute_, start, bar.end_ns);
    bar.exposed_ns = bar.end_ns - start - bar.overlapped_ns;
    const bool hidden = bar.overlapped_ns > bar.exposed_ns;
    out_.communication.push_back({start, bar.end_ns,
                                  hidden ? TimeClass::kOverlapped : TimeClass::kExposed, 0, "",
                                  static_cast<int>(out_.collectives.size())});
    out_.collectives.push_back(bar);
    return bar.end_ns;
  }

  // Forward: each unit is gathered before its turn. Backward: the next one while the one before it
  // works, its gradients reduced behind it.
  std::int64_t add_units(std::int64_t forward_start, std::int64_t backward_start) {
    using trace::CollectiveFunction;
    const int shard = step_.groups > 1 ? 1 : 0;
    const double forward = 0.28 / (step_.blocks + 1), backward = 0.5 / (step_.blocks + 1);
    for (int i = 0; i <= step_.blocks; ++i) {
      add_unit(i, "forward gather", CollectiveFunction::kAllGather, shard,
               forward_start + at_length(forward * i), forward * 0.45);
    }
    std::int64_t end = 0;
    for (int i = step_.blocks; i >= 0; --i) {
      const auto turn = backward_start + at_length(backward * (step_.blocks - i));
      if (i > 0) {
        add_unit(i, i == step_.blocks ? "backward gather" : "backward gather, prefetched",
                 CollectiveFunction::kAllGather, shard, turn, backward * 0.3);
      }
      const auto ready = turn + at_length(backward * 0.8);
      out_.ready.push_back(
          {ready, trace::TagKind::kUnit, i, unit(i)->name, unit(i)->reduced_bytes, "", unit(i)});
      end = add_unit(i, "reduce", CollectiveFunction::kReduceScatter, shard,
                     ready + at_length(0.002), backward * 0.45);
      if (step_.groups > 1) {
        end = add_unit(i, "reduce", CollectiveFunction::kAllReduce, 2, end, backward * 0.3);
      }
    }
    out_.lanes = {{shard, step_.groups > 1 ? "shard" : "world", {}}};
    if (step_.groups > 1) out_.lanes.push_back({2, "replicate", {}});
    return end;
  }

  void add_ribbon() {
    const auto& first = out_.collectives.front();
    const auto compute_end = [&] {
      std::int64_t end = 0;
      for (const Bar& bar : out_.compute) {
        if (bar.bar_class == TimeClass::kCompute) end = std::max(end, bar.end_ns);
      }
      return end;
    }();
    const auto exposed_end = std::max(compute_end, out_.collectives.back().end_ns);
    const Bar& optimizer = out_.phases.back();
    const auto add = [this](std::int64_t from, std::int64_t to, TimeClass bar_class,
                            std::string label) {
      if (to > from) out_.ribbon.push_back({from, to, bar_class, 0, std::move(label), -1});
    };
    add(start_, out_.compute.front().start_ns, TimeClass::kIdle, "");
    add(out_.compute.front().start_ns, first.start_ns, TimeClass::kCompute, "");
    add(first.start_ns, compute_end, TimeClass::kOverlapped, "");
    const double exposed = static_cast<double>(exposed_end - compute_end);
    add(compute_end, exposed_end, TimeClass::kExposed,
        "exposed " + format_duration(exposed).text());
    add(exposed_end, optimizer.start_ns, TimeClass::kIdle, "");
    add(optimizer.start_ns, optimizer.end_ns, TimeClass::kOptimizer, "");
    trace::StepBreakdown& b = out_.breakdown;
    b.step_ns = out_.end_ns - start_;
    b.exposed_ns = exposed_end - compute_end;
    b.optimizer_compute_ns = optimizer.end_ns - optimizer.start_ns;
    b.idle_ns = out_.compute.front().start_ns - start_;
    b.compute_ns = b.step_ns - b.exposed_ns - b.idle_ns;
    b.comm_ns = exposed_end - first.start_ns;
    b.overlap_ns = b.comm_ns - b.exposed_ns;
    b.has_detail = true;
  }

  const SampleStep& step_;
  std::mt19937 random_;
  RankTimeline out_;
  std::vector<Interval> compute_;
  std::int64_t start_ = 0;
};

}  // namespace

trace::StepTimeline sample_timeline(const SampleStep& step) {
  trace::StepTimeline out;
  out.step = step.index;
  for (int rank = 0; rank < step.ranks; ++rank) {
    out.ranks.push_back(RankBuilder(step, rank).build());
    out.end_ns = std::max(out.end_ns, out.ranks.back().end_ns);
  }
  return out;
}

}  // namespace shardlens::ui
