#include "trace/explore/run/rank_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/figures/throttling.h"
#include "trace/base/saturated.h"
#include "trace/model/activity.h"
#include "trace/model/gpu_counter_names.h"
#include "trace/model/untold.h"
#include "trace/store/read/rank_tail.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

namespace {

constexpr double kMostLimits = 4'294'967'296;  // beyond a set of 32 bits

template <typename T>
void append_rows(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

template <typename T>
std::vector<T> reordered(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const std::uint32_t at : order) result.push_back(std::move(values[at]));
  return result;
}

// Nearly all rows were recorded in order: then this only checks that.
template <typename Row>
void put_in_order(TimedRows<Row>& timed) {
  const auto start_of = [&](std::uint32_t at) {
    return timeline::drawn_time(timed.rows[at].start_ns, timed.rows[at].end_ns).start_ns;
  };
  std::vector<std::uint32_t> order(timed.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::ranges::is_sorted(order, {}, start_of)) {
    std::ranges::stable_sort(order, {}, start_of);
    timed.rows = reordered(timed.rows, order);
    timed.ids = reordered(timed.ids, order);
    timed.labels = reordered(timed.labels, order);
  }
  timed.latest_end.resize(timed.size());
  std::int64_t latest = INT64_MIN;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    latest =
        std::max(latest, timeline::drawn_time(timed.rows[i].start_ns, timed.rows[i].end_ns).end_ns);
    timed.latest_end[i] = latest;
  }
}

template <typename... Rows>
base::Interval extent_of_rows(const Rows&... lists) {
  base::Interval extent{INT64_MAX, INT64_MIN};
  const auto add = [&](const auto& row) {
    if (!base::is_plausible_time(row.start_ns, row.end_ns)) return;
    extent.start_ns = std::min(extent.start_ns, row.start_ns);
    extent.end_ns = std::max(extent.end_ns, row.end_ns);
  };
  (std::ranges::for_each(lists, add), ...);
  return extent.end_ns > extent.start_ns ? extent : base::Interval{};
}

// How many buckets of one backward pass, in which each number comes once, have the sizes that the
// first and the latest plan give them: all in the type of their gradients, or all in one of half
// its size, as a communication hook sends them.
class PassFit {
 public:
  PassFit(std::span<const model::Bucket> buckets, std::array<int, 2> plans) : plans_(plans) {
    for (const model::Bucket& bucket : buckets) bytes_[{bucket.plan, bucket.index}] = bucket.bytes;
    for (const auto& [key, bytes] : bytes_) {
      for (std::size_t plan = 0; plan < plans.size(); ++plan)
        if (key.first == plans[plan]) ++sizes_[plan];
    }
  }

  bool has(int index) const { return numbers_.contains(index); }
  // One whose number was there begins the next pass.
  void add(const model::Collective& row) {
    if (has(row.tag_index)) {
      numbers_.clear();
      fits_ = {};
    }
    if (numbers_.empty()) start_ns_ = row.start_ns;
    numbers_.insert(row.tag_index);
    for (std::size_t plan = 0; plan < plans_.size(); ++plan) {
      const auto planned = bytes_.find({plans_[plan], row.tag_index});
      if (planned == bytes_.end() || row.bytes <= 0) continue;
      if (planned->second == row.bytes) ++fits_[plan].whole;
      if (planned->second / 2 == row.bytes) ++fits_[plan].half;
    }
  }
  // The sizes of half of one plan's buckets may be in the other, too, but not all it has.
  bool is_of_latest() const { return rank_of(1) >= rank_of(0); }
  std::int64_t start_ns() const { return start_ns_; }

 private:
  struct Fit {
    int whole = 0, half = 0;
  };
  std::pair<bool, int> rank_of(std::size_t plan) const {
    const int buckets = std::max(fits_[plan].whole, fits_[plan].half);
    return {buckets == sizes_[plan], buckets};
  }

  std::array<int, 2> plans_, sizes_{};
  std::map<std::pair<int, int>, std::int64_t> bytes_;  // by plan and number
  std::set<int> numbers_;
  std::array<Fit, 2> fits_{};
  std::int64_t start_ns_ = INT64_MIN;
};

template <typename T, typename Time>
void sort_by_time(std::vector<T>& values, Time time) {
  if (!std::ranges::is_sorted(values, {}, time)) std::ranges::stable_sort(values, {}, time);
}

}  // namespace

const model::Lane* RankRows::lane(int id) const {
  const auto found = std::ranges::find(lanes, id, &model::Lane::id);
  return found == lanes.end() ? nullptr : &*found;
}

const model::ProcessGroup* RankRows::group(int id) const {
  const auto found = std::ranges::find(groups, id, &model::ProcessGroup::id);
  return found == groups.end() ? nullptr : &*found;
}

const model::Unit* RankRows::unit(int index) const {
  const auto found = std::ranges::find(units, index, &model::Unit::index);
  return found == units.end() ? nullptr : &*found;
}

const model::Bucket* RankRows::bucket(int index, std::int64_t reduced_ns) const {
  const bool is_first_plan = reduced_ns < replanned_ns;
  const model::Bucket* found = nullptr;
  for (const model::Bucket& each : buckets) {
    if (each.index != index) continue;
    const bool is_better =
        found == nullptr || (is_first_plan ? each.plan < found->plan : each.plan >= found->plan);
    if (is_better) found = &each;
  }
  return found;
}

const model::Step* RankRows::step_at(std::int64_t time_ns) const {
  return model::step_at(steps, time_ns);
}

RankRowsBuilder::RankRowsBuilder(int rank) : shared_(std::make_shared<RankRows>()) {
  shared_->rank = rank;
  shared_->strings.emplace_back();
  shared_->labels.emplace_back();
  label_ids_.emplace("", 0);
}

std::uint32_t RankRowsBuilder::label(std::string_view text) {
  const auto found = label_ids_.find(text);
  if (found != label_ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(shared_->labels.size());
  shared_->labels.emplace_back(text);
  label_ids_.emplace(text, id);
  return id;
}

void RankRowsBuilder::add_labels(const store::RowPart& part) {
  RankRows& all = *shared_;
  for (const model::Span& span : part.rows.spans) {
    const auto name = span.depth > 0 ? all.text(span.name) : std::string_view();
    all.spans.labels.push_back(label(name.empty() ? base::to_string(span.phase) : name));
  }
  for (const model::Collective& row : part.rows.collectives) {
    all.collectives.labels.push_back(
        label(analysis::collective_label(row, all.text(row.tag_name))));
  }
}

void RankRowsBuilder::add_ready(const model::Batch& rows) {
  RankRows& all = *shared_;
  for (const model::BucketReady& ready : rows.bucket_ready) {
    all.bucket_ready.push_back(
        {ready.time_ns, label(analysis::tag_text(model::TagKind::kBucket, ready.bucket, {})), 0,
         ready.bucket, model::TagKind::kBucket});
  }
  for (const model::UnitReady& ready : rows.unit_ready) {
    const model::Unit* const unit = all.unit(ready.unit);
    const bool known = unit != nullptr;
    const auto name = known ? all.text(unit->name) : std::string_view();
    all.unit_ready.push_back({ready.time_ns,
                              label(analysis::tag_text(model::TagKind::kUnit, ready.unit, name)),
                              known ? unit->reduced_bytes : 0, ready.unit, model::TagKind::kUnit});
  }
}

void RankRowsBuilder::add_samples(const model::Batch& rows) {
  RankRows& all = *shared_;
  for (const model::MemorySample& sample : rows.memory) {
    const auto bytes = static_cast<double>(sample.allocated_bytes());
    (sample.is_peak ? peaks_ : all.memory).push_back({sample.time_ns, bytes});
    if (sample.is_peak && sample.step >= 0) all.step_peaks[sample.step] = sample;
    if (!sample.is_peak) all.highest_memory = std::max(all.highest_memory, bytes);
  }
  for (const model::CounterSample& sample : rows.counters) {
    const auto name = all.text(sample.name);
    if (name != model::kClockLimits) {
      add_counter(name, all.text(sample.unit), sample.time_ns, sample.value);
      continue;
    }
    const bool is_set = sample.value >= 1 && sample.value < kMostLimits &&
                        (static_cast<std::uint32_t>(sample.value) & model::kThrottling) != 0;
    add_counter(model::kThrottled, "share", sample.time_ns, is_set ? 1 : 0);
  }
}

void RankRowsBuilder::add_counter(std::string_view name, std::string_view unit,
                                  std::int64_t time_ns, double value) {
  auto& counters = shared_->counters;
  auto series = std::ranges::find(counters, name, &CounterSeries::name);
  if (series == counters.end()) {
    CounterSeries added;
    added.name = name;
    added.unit = unit;
    counters.push_back(std::move(added));
    series = std::prev(counters.end());
  }
  std::int64_t before = std::exchange(series->last_ns, time_ns);
  const bool is_own = model::gpu_counter_place(name) >= 0 || name == model::kThrottled;
  // A sample stands for the time since the one before, which is not known of the first.
  if (is_own && before == 0) return;
  constexpr std::int64_t kLongestNs = analysis::ThrottledTimes::kLongestNs;
  if (name == model::kThrottled && base::saturated_difference(time_ns, before) > kLongestNs) {
    series->samples.push_back({before, 0});
    before = time_ns - kLongestNs;
  }
  series->samples.push_back({is_own ? before : time_ns, value});
  series->highest = std::max(series->highest, value);
}

// Powers share a scale with their limit.
void RankRowsBuilder::scale_counters() {
  auto& counters = shared_->counters;
  const auto limit = std::ranges::find(counters, model::kPowerLimit, &CounterSeries::name);
  const double most_watts = limit == counters.end() ? 0 : limit->highest;
  for (CounterSeries& series : counters) {
    series.scale = timeline::area_scale(series.unit, series.highest, most_watts);
  }
}

void RankRowsBuilder::know_lanes(std::vector<int> of_spans, std::vector<int> of_collectives) {
  shared_->span_lanes = std::move(of_spans);
  shared_->collective_lanes = std::move(of_collectives);
}

RankRows& RankRowsBuilder::own() {
  if (shared_.use_count() > 1) shared_ = std::make_shared<RankRows>(*shared_);
  return *shared_;
}

void RankRowsBuilder::use_strings(const model::StringTable& strings) { own().table = &strings; }

void RankRowsBuilder::add(store::RowPart part) {
  RankRows& all = own();
  model::Batch& rows = part.rows;
  for (model::InternedString& string : rows.strings) {
    all.is_closed = all.is_closed || string.text == model::kClosedInOrder;
    if (string.id > model::kMostStringId) continue;
    if (string.id >= all.strings.size()) all.strings.resize(string.id + 1);
    all.strings[string.id] = std::move(string.text);
  }
  if (rows.rank_info) all.info = std::move(*rows.rank_info);
  append_rows(all.lanes, rows.lanes);
  for (model::ProcessGroup& group : rows.process_groups) std::ranges::sort(group.ranks);
  append_rows(all.groups, rows.process_groups);
  append_rows(all.units, rows.units);
  append_rows(all.unit_parameters, rows.unit_parameters);
  append_rows(all.buckets, rows.buckets);
  append_rows(all.bucket_parameters, part.bucket_parameters);
  add_labels(part);
  add_ready(rows);
  add_samples(rows);
  for (const model::Collective& row : rows.collectives) {
    if (!base::is_plausible_time(row.start_ns, row.end_ns)) continue;
    std::int64_t& end_ns = all.collective_ends.try_emplace(row.lane, row.end_ns).first->second;
    end_ns = std::max(end_ns, row.end_ns);
  }
  append_rows(all.steps, rows.steps);
  append_rows(all.spans.rows, rows.spans);
  append_rows(all.spans.ids, part.span_ids);
  append_rows(all.collectives.rows, rows.collectives);
  append_rows(all.collectives.ids, part.collective_ids);
}

// A peak that was recorded at its step's end may have been anywhere in the step.
void RankRowsBuilder::place_peaks() {
  RankRows& all = *shared_;
  std::erase_if(peaks_, [&](const timeline::AreaSample& peak) {
    const model::Step* const step = all.step_at(peak.time_ns);
    if (step == nullptr) return false;
    if (step->end_ns - peak.time_ns > (step->end_ns - step->start_ns) / 100) {
      all.memory.push_back(peak);
      all.highest_memory = std::max(all.highest_memory, peak.value);
    }
    return true;
  });
}

void RankRowsBuilder::find_plans() {
  RankRows& all = *shared_;
  all.replanned_ns = INT64_MIN;
  if (all.buckets.empty()) return;
  const auto [first, latest] = std::ranges::minmax(all.buckets, {}, &model::Bucket::plan);
  if (first.plan == latest.plan) return;
  PassFit fit(all.buckets, {first.plan, latest.plan});
  for (const model::Collective& row : all.collectives.rows) {
    if (row.tag_kind != model::TagKind::kBucket) continue;
    if (fit.has(row.tag_index) && fit.is_of_latest()) break;
    fit.add(row);
  }
  all.replanned_ns = fit.is_of_latest() ? fit.start_ns() : INT64_MAX;
}

// By the plan of what is reduced next under its number. From the last one back.
void RankRowsBuilder::size_ready_buckets() {
  RankRows& all = *shared_;
  std::map<int, std::int64_t> reduced;  // when, by number
  std::map<std::pair<int, bool>, std::int64_t> planned;
  auto next = all.collectives.rows.rbegin();
  for (timeline::ReadyPoint& ready : std::views::reverse(all.bucket_ready)) {
    for (; next != all.collectives.rows.rend() && next->start_ns >= ready.time_ns; ++next) {
      if (next->tag_kind == model::TagKind::kBucket) reduced[next->tag_index] = next->start_ns;
    }
    const auto found = reduced.find(ready.index);
    const std::int64_t at_ns = found == reduced.end() ? INT64_MAX : found->second;
    const auto [size, is_new] = planned.try_emplace({ready.index, at_ns < all.replanned_ns}, 0);
    const model::Bucket* const bucket = is_new ? all.bucket(ready.index, at_ns) : nullptr;
    if (bucket != nullptr) size->second = bucket->bytes;
    ready.bytes = size->second;
  }
}

std::shared_ptr<const RankRows> RankRowsBuilder::build() {
  RankRows& all = own();
  put_in_order(all.spans);
  put_in_order(all.collectives);
  sort_by_time(all.steps, &model::Step::start_ns);
  sort_by_time(all.bucket_ready, &timeline::ReadyPoint::time_ns);
  sort_by_time(all.unit_ready, &timeline::ReadyPoint::time_ns);
  find_plans();
  size_ready_buckets();
  place_peaks();
  sort_by_time(all.memory, &timeline::AreaSample::time_ns);
  for (CounterSeries& series : all.counters)
    sort_by_time(series.samples, &timeline::AreaSample::time_ns);
  scale_counters();
  std::vector<base::Interval> optimizer;
  for (const model::Span& span : all.spans.rows) {
    if (span.depth != 0 || span.phase != base::Phase::kOptimizer) continue;
    optimizer.push_back(timeline::drawn_time(span.start_ns, span.end_ns));
  }
  all.optimizer = base::normalize(std::move(optimizer));
  std::vector<base::Interval> undetailed;
  for (const model::Step& step : all.steps) {
    if (!step.full_detail) undetailed.push_back(timeline::drawn_time(step.start_ns, step.end_ns));
  }
  all.undetailed = base::normalize(std::move(undetailed));
  all.extent = extent_of_rows(all.steps, all.spans.rows, all.collectives.rows);
  return shared_;
}

}  // namespace shardlens::trace::explore
