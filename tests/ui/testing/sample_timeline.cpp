#include "tests/ui/testing/sample_timeline.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

using trace::base::TimeClass;
using trace::timeline::DrawnCollective;
using trace::timeline::Piece;
using trace::timeline::RowKind;

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

// The rows of all ranks with what they draw, as they are put together.
class StepBuilder {
 public:
  explicit StepBuilder(const SampleStep& step) : step_(step) {
    rows_->is_one_step = true;
    rows_->start_ns = rows_->end_ns = step.start_ns;
    out_.picture.step = step.index;
    out_.picture.has_detail = true;
  }

  void begin_rank(int rank, std::string device) {
    trace::timeline::TimelineRank& added = rows_->ranks.emplace_back();
    added.rank = rank;
    added.device = std::move(device);
  }
  void add_row(RowKind kind, std::string label, trace::timeline::RowPicture drawn) {
    trace::timeline::TimelineRow& row = rows_->rows.emplace_back();
    row.id = static_cast<int>(rows_->rows.size()) - 1;
    row.rank = rows_->ranks.back().rank;
    row.kind = kind;
    row.lane = row.id;
    row.label = std::move(label);
    row.count = std::ssize(drawn.pieces);
    rows_->ranks.back().rows.push_back(row.id);
    drawn.window.row = row.id;
    drawn.is_exact = true;
    picture_->rows.push_back(std::move(drawn));
  }
  void end_rank(trace::analysis::StepBreakdown breakdown) {
    const int rank = rows_->ranks.back().rank;
    const std::int64_t end_ns = breakdown.start_ns + breakdown.step_ns;
    rows_->steps.push_back({step_.index, rank, breakdown.start_ns, end_ns});
    rows_->end_ns = std::max(rows_->end_ns, end_ns);
    out_.picture.by_compute.push_back({rank, breakdown.compute_ns});
    out_.ranks.push_back(std::move(breakdown));
  }
  std::uint32_t name(const std::string& text) {
    const auto [found, is_new] =
        names_.try_emplace(text, static_cast<std::uint32_t>(names_.size() + 1));
    if (is_new) picture_->names.push_back(text);
    return found->second;
  }
  SampleTimeline take() {
    for (auto& row : picture_->rows) {
      row.window.start_ns = rows_->start_ns;
      row.window.end_ns = rows_->end_ns;
    }
    std::ranges::stable_sort(out_.picture.by_compute, std::ranges::greater(),
                             &trace::timeline::StepPicture::RankCompute::compute_ns);
    out_.picture.rows = rows_;
    out_.picture.picture = picture_;
    return std::move(out_);
  }

 private:
  const SampleStep& step_;
  SampleTimeline out_;
  std::shared_ptr<trace::timeline::TimelineRows> rows_ =
      std::make_shared<trace::timeline::TimelineRows>();
  std::shared_ptr<trace::timeline::TimelinePicture> picture_ = [] {
    auto picture = std::make_shared<trace::timeline::TimelinePicture>();
    picture->names = {""};
    return picture;
  }();
  std::map<std::string, std::uint32_t> names_;
};

class RankBuilder {
 public:
  RankBuilder(const SampleStep& step, int rank, StepBuilder& out)
      : step_(step),
        rank_(rank),
        random_(static_cast<unsigned>(step.index * 31 + rank)),
        out_(out) {
    start_ = step.start_ns + static_cast<std::int64_t>(static_cast<double>(rank) * 0.004 * ns());
  }

  void build() {
    const auto data = at(0.02), forward = at(0.31), backward = at(0.86), end = at(0.965);
    add_phase(start_, data, TimeClass::kData, "data");
    add_phase(data + at_length(0.002), forward, TimeClass::kForward, "forward");
    add_phase(forward + at_length(0.002), backward, TimeClass::kBackward, "backward");
    fill_compute(data + at_length(0.004), forward, TimeClass::kCompute);
    fill_compute(forward + at_length(0.004), at(0.72), TimeClass::kCompute);
    const auto communication_end =
        step_.blocks > 0 ? add_units(data, forward) : add_buckets(forward);
    const auto optimizer = std::max(communication_end, at(0.86)) + at_length(0.004);
    phases_.pieces.back().end_ns = optimizer - at_length(0.003);
    add_phase(optimizer, optimizer + end - at(0.86), TimeClass::kOptimizerPhase, "optimizer");
    fill_compute(optimizer + at_length(0.002), optimizer + end - at(0.86), TimeClass::kOptimizer);
    end_ = optimizer + end - at(0.86) + at_length(0.005);
    add_ribbon();
    hand_over();
  }

 private:
  double ns() const { return step_.milliseconds * 1e6; }
  std::int64_t at(double fraction) const { return start_ + at_length(fraction); }
  std::int64_t at_length(double fraction) const {
    return static_cast<std::int64_t>(fraction * ns());
  }

  Piece& add_piece(trace::timeline::RowPicture& row, std::int64_t from, std::int64_t to,
                   TimeClass piece_class, const std::string& name,
                   trace::timeline::EventTableKind table) {
    Piece& piece = row.pieces.emplace_back();
    piece.start_ns = from;
    piece.end_ns = to;
    piece.piece_class = piece_class;
    piece.longest_ns = to - from;
    piece.name = name.empty() ? 0 : out_.name(name);
    piece.ref = {table, rank_, ++refs_, 0};
    return piece;
  }
  void add_phase(std::int64_t from, std::int64_t to, TimeClass piece_class,
                 const std::string& name) {
    add_piece(phases_, from, to, piece_class, name, trace::timeline::EventTableKind::kSpan);
  }

  void fill_compute(std::int64_t from, std::int64_t to, TimeClass piece_class) {
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
      add_piece(compute_row_, cursor, end, piece_class, kNames[name(random_)],
                trace::timeline::EventTableKind::kKernel);
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
      const bool last_rank = rank_ == step_.ranks - 1;
      const auto start = std::max(link_free, ready + at_length(0.002)) + (last_rank ? late : 0);
      const auto latest = last_rank ? start : start + late + at_length(0.003);
      const auto end = latest + static_cast<std::int64_t>(static_cast<double>(bytes) * per_byte);
      add_bucket(static_cast<int>(i), bytes, ready, start, latest, end);
      link_free = end + at_length(0.001);
    }
    return link_free;
  }

  // In its lane and among what is ready, cut where computation ends.
  void add_call(DrawnCollective call, const std::string& name, int lane, std::int64_t latest,
                std::int64_t end, std::int64_t border) {
    const std::int64_t start = call.start_ns;
    if (latest != 0)
      call.wait = {latest - start, end - latest, false, trace::analysis::WaitDoubt::kNone};
    call.overlapped_ns = covered(compute_, start, end);
    call.exposed_ns = end - start - call.overlapped_ns;
    first_ = first_ == 0 ? start : first_;
    last_ = end;
    const auto add = [&](trace::timeline::RowPicture& row, std::int64_t from, std::int64_t to,
                         TimeClass piece_class) {
      if (to <= from) return;
      Piece& piece =
          add_piece(row, from, to, piece_class, name, trace::timeline::EventTableKind::kCollective);
      piece.latest_start_ns = latest;
      piece.longest_ns = end - start;
      piece.collective = static_cast<std::int32_t>(row.collectives.size());
      piece.ref.row = 1'000'000 + call.sequence;
    };
    trace::timeline::RowPicture& row = lanes_[lane];
    add(row, start, border, TimeClass::kOverlapped);
    add(row, border, end, TimeClass::kExposed);
    row.collectives.push_back(call);
    add(ready_, start, end, TimeClass::kCompute);
    ready_.collectives.push_back(std::move(call));
  }

  void add_bucket(int bucket, std::int64_t bytes, std::int64_t ready, std::int64_t start,
                  std::int64_t latest, std::int64_t end) {
    const std::string name = "bucket " + std::to_string(bucket);
    ready_.ready.push_back({ready, out_.name(name), bytes, bucket, trace::model::TagKind::kBucket});
    trace::analysis::BucketFigures figures;
    figures.index = bucket;
    figures.bytes = bytes;
    if (step_.bucket_cap > 0 && bytes > 2 * step_.bucket_cap) {
      figures.oversize_reason = "wte.weight " +
                                present::format_bytes(static_cast<double>(bytes) * 0.875).text() +
                                ": a tensor is never split";
    }
    DrawnCollective call;
    call.sequence = step_.index * 16 + bucket;
    call.function = call.executed = trace::model::CollectiveFunction::kAllReduce;
    call.tag_kind = trace::model::TagKind::kBucket;
    call.tag_index = bucket;
    call.bytes = bytes;
    call.start_ns = start;
    call.bucket = std::make_shared<const trace::analysis::BucketFigures>(std::move(figures));
    add_call(std::move(call), name, 0, latest, end, std::clamp(compute_.back().end, start, end));
  }

  std::shared_ptr<const trace::analysis::UnitFigures> unit(int index) const {
    trace::analysis::UnitFigures figures;
    figures.index = index;
    figures.name = index == 0 ? "root" : "blocks." + std::to_string(index - 1);
    figures.bytes = figures.reduced_bytes = std::int64_t{index == 0 ? 3 : 7} << 20;
    figures.shard_count = step_.ranks;
    figures.shard_bytes = figures.bytes / step_.ranks;
    figures.parameters = {figures.name + ".attn.weight", figures.name + ".attn.bias",
                          figures.name + ".mlp.weight"};
    return std::make_shared<const trace::analysis::UnitFigures>(std::move(figures));
  }

  // What one unit needs at `start`; returns its end.
  std::int64_t add_unit(int index, const std::string& what,
                        trace::model::CollectiveFunction function, int group, std::int64_t start,
                        double length) {
    DrawnCollective call;
    call.unit = unit(index);
    call.sequence = ++calls_;
    call.function = call.executed = function;
    call.tag_kind = trace::model::TagKind::kUnit;
    call.tag_index = index;
    call.bytes = call.unit->bytes;
    call.start_ns = start;
    if (function == trace::model::CollectiveFunction::kAllGather) {
      call.gather = what.starts_with("backward") ? DrawnCollective::Gather::kBackward
                                                 : DrawnCollective::Gather::kForward;
      call.is_prefetched = what.ends_with(", prefetched");
    }
    const std::int64_t end = start + at_length(length);
    const bool hidden = 2 * covered(compute_, start, end) > end - start;
    const std::string name = call.unit->name + " " + what;
    add_call(std::move(call), name, group, start + at_length(0.002), end, hidden ? end : start);
    return end;
  }

  // Forward: each unit is gathered before its turn. Backward: the next one while the one before it
  // works, its gradients reduced behind it.
  std::int64_t add_units(std::int64_t forward_start, std::int64_t backward_start) {
    using trace::model::CollectiveFunction;
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
      ready_.ready.push_back({ready, out_.name(unit(i)->name), unit(i)->reduced_bytes, i,
                              trace::model::TagKind::kUnit});
      end = add_unit(i, "reduce", CollectiveFunction::kReduceScatter, shard,
                     ready + at_length(0.002), backward * 0.45);
      if (step_.groups > 1) {
        end = add_unit(i, "reduce", CollectiveFunction::kAllReduce, 2, end, backward * 0.3);
      }
    }
    return end;
  }

  void add_ribbon() {
    std::int64_t compute_end = 0;
    for (const Piece& piece : compute_row_.pieces) {
      if (piece.piece_class == TimeClass::kCompute) {
        compute_end = std::max(compute_end, piece.end_ns);
      }
    }
    const auto exposed_end = std::max(compute_end, last_);
    const Piece& optimizer = phases_.pieces.back();
    const std::int64_t first = compute_row_.pieces.front().start_ns;
    const auto add = [this](std::int64_t from, std::int64_t to, TimeClass piece_class) {
      if (to > from)
        add_piece(ribbon_, from, to, piece_class, "", trace::timeline::EventTableKind::kNone);
    };
    add(start_, first, TimeClass::kIdle);
    add(first, first_, TimeClass::kCompute);
    add(first_, compute_end, TimeClass::kOverlapped);
    add(compute_end, exposed_end, TimeClass::kExposed);
    add(exposed_end, optimizer.start_ns, TimeClass::kIdle);
    add(optimizer.start_ns, optimizer.end_ns, TimeClass::kOptimizer);
    trace::analysis::StepBreakdown& b = breakdown_;
    b.start_ns = start_;
    b.step_ns = end_ - start_;
    b.exposed_ns = exposed_end - compute_end;
    b.optimizer_compute_ns = optimizer.end_ns - optimizer.start_ns;
    b.idle_ns = first - start_;
    b.compute_ns = b.step_ns - b.exposed_ns - b.idle_ns;
    b.comm_ns = exposed_end - first_;
    b.overlap_ns = b.comm_ns - b.exposed_ns;
    b.has_detail = true;
  }

  void hand_over() {
    out_.begin_rank(rank_, step_.gpu ? "cuda:" + std::to_string(rank_) : "cpu");
    out_.add_row(RowKind::kRibbon, "Ribbon", std::move(ribbon_));
    out_.add_row(RowKind::kPhases, "Phases", std::move(phases_));
    out_.add_row(RowKind::kKernels, "Compute", std::move(compute_row_));
    for (auto& [lane, row] : lanes_) {
      out_.add_row(RowKind::kCommunication,
                   lanes_.size() == 1 ? "Communication"
                   : lane == 1        ? "shard"
                                      : "replicate",
                   std::move(row));
    }
    std::ranges::stable_sort(ready_.pieces, {}, &Piece::start_ns);
    std::ranges::stable_sort(ready_.ready, {}, &trace::timeline::ReadyPoint::time_ns);
    out_.add_row(RowKind::kReady, step_.blocks > 0 ? "Units" : "Buckets", std::move(ready_));
    out_.end_rank(std::move(breakdown_));
  }

  const SampleStep& step_;
  int rank_;
  std::mt19937 random_;
  StepBuilder& out_;
  trace::timeline::RowPicture ribbon_, phases_, compute_row_, ready_;
  std::map<int, trace::timeline::RowPicture> lanes_;  // by process group
  trace::analysis::StepBreakdown breakdown_;
  std::vector<Interval> compute_;
  std::int64_t start_ = 0, end_ = 0;
  std::int64_t first_ = 0, last_ = 0;  // of all communication
  std::int64_t refs_ = 0, calls_ = 0;
};

}  // namespace

SampleTimeline sample_timeline(const SampleStep& step) {
  StepBuilder out(step);
  for (int rank = 0; rank < step.ranks; ++rank) RankBuilder(step, rank, out).build();
  return out.take();
}

}  // namespace shardlens::ui
