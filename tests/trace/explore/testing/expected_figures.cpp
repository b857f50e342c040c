#include "tests/trace/explore/testing/expected_figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shardlens::trace::test {

namespace {

bool is_in(const timeline::TimeRange& range, int rank, std::int64_t start_ns) {
  const bool has_rank = range.ranks.empty() || std::ranges::count(range.ranks, rank) > 0;
  return has_rank && start_ns >= range.start_ns && start_ns < range.end_ns;
}

std::string call_name(const model::Collective& row, timeline::GroupBy group_by) {
  const std::string function(model::to_string(row.function));
  std::string tag;
  if (row.tag_kind == model::TagKind::kBucket) tag = "bucket " + std::to_string(row.tag_index);
  if (row.tag_kind >= model::TagKind::kUnit) tag = call_text(row.tag_name);
  switch (group_by) {
    case timeline::GroupBy::kName:
      return tag.empty() ? function : function + " · " + tag;
    case timeline::GroupBy::kClass:
      return function;
    case timeline::GroupBy::kShape:
      return function + " · " + std::to_string(row.bytes / 1024) + ".00 KiB bfloat16";
    case timeline::GroupBy::kUnit:
      if (row.tag_kind == model::TagKind::kUnit) return std::string(call_unit(row.tag_index));
      return tag.empty() ? "no tag" : tag;
  }
  return "";
}

std::int64_t quantile(const std::vector<Sample>& sorted, double q) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::max<std::size_t>(rank, 1) - 1].duration_ns;
}

// Durations that lie on the border of two bins may be in either.
void expect_bins(const timeline::DurationHistogram& histogram, const std::vector<Sample>& samples) {
  std::array<std::int64_t, timeline::kHistogramBins> least{}, most{};
  const double ratio = std::log(histogram.last_ns / histogram.first_ns);
  for (const Sample& sample : samples) {
    const auto duration = static_cast<double>(sample.duration_ns);
    double at = duration <= histogram.first_ns || ratio == 0
                    ? 0
                    : std::log(duration / histogram.first_ns) / ratio * timeline::kHistogramBins;
    const auto bin = [&](double shift) {
      return static_cast<std::size_t>(std::clamp(at + shift, 0.0, timeline::kHistogramBins - 1.0));
    };
    if (bin(-1e-6) == bin(1e-6)) ++least[bin(0)];
    ++most[bin(-1e-6)];
    if (bin(-1e-6) != bin(1e-6)) ++most[bin(1e-6)];
  }
  std::int64_t sum = 0;
  for (std::size_t bin = 0; bin < timeline::kHistogramBins; ++bin) {
    EXPECT_GE(histogram.counts[bin], least[bin]) << "bin " << bin;
    EXPECT_LE(histogram.counts[bin], most[bin]) << "bin " << bin;
    sum += histogram.counts[bin];
  }
  EXPECT_EQ(sum, static_cast<std::int64_t>(samples.size()));
}

void expect_figures(const timeline::NameFigures& figures, std::vector<Sample> samples,
                    bool has_bytes) {
  SCOPED_TRACE(figures.name);
  std::ranges::stable_sort(samples, {}, &Sample::duration_ns);
  std::int64_t total = 0, bytes = 0;
  for (const Sample& sample : samples) {
    if (__builtin_add_overflow(total, sample.duration_ns, &total)) total = INT64_MAX;
    bytes += sample.bytes;
  }
  EXPECT_EQ(figures.count, static_cast<std::int64_t>(samples.size()));
  EXPECT_EQ(figures.total_ns, total);
  EXPECT_DOUBLE_EQ(figures.mean_ns,
                   static_cast<double>(total) / static_cast<double>(samples.size()));
  EXPECT_EQ(figures.median_ns, quantile(samples, 0.5));
  EXPECT_EQ(figures.p99_ns, quantile(samples, 0.99));
  EXPECT_EQ(figures.least_ns, samples.front().duration_ns);
  EXPECT_EQ(figures.most_ns, samples.back().duration_ns);
  EXPECT_EQ(figures.bytes, has_bytes ? bytes : 0);
  EXPECT_DOUBLE_EQ(figures.histogram.first_ns,
                   static_cast<double>(std::max<std::int64_t>(1, figures.least_ns)));
  EXPECT_DOUBLE_EQ(figures.histogram.last_ns,
                   std::max(figures.histogram.first_ns, static_cast<double>(figures.most_ns)));
  expect_bins(figures.histogram, samples);
  std::int64_t first_of_longest = INT64_MAX;
  for (const Sample& sample : samples) {
    if (sample.duration_ns == figures.most_ns) {
      first_of_longest = std::min(first_of_longest, sample.start_ns);
    }
  }
  EXPECT_EQ(figures.longest_start_ns, first_of_longest);
}

}  // namespace

Samples samples_of(const RandomRun& run, const timeline::TimeRange& range, model::EventKind kind) {
  Samples samples;
  for (const RandomEvent& one : run.events()) {
    if (one.kind != kind || !is_in(range, one.rank, one.event.start_ns)) continue;
    samples[one.name].push_back({std::max<std::int64_t>(0, one.event.duration_ns),
                                 one.event.start_ns, one.event.value, one.rank});
  }
  return samples;
}

std::string_view call_unit(int index) {
  constexpr std::array<std::string_view, 3> kUnits{"root", "module 1", "module 2.1"};
  return kUnits.at(static_cast<std::size_t>(index));
}

std::string_view call_text(model::StringId id) {
  constexpr std::string_view kTexts[] = {"root forward gather", "blocks.1 backward gather",
                                         "blocks.1 reduction", "bfloat16"};
  return id >= 20 && id < 24 ? kTexts[id - 20] : std::string_view();
}

Samples samples_of(const RandomRun& run, const timeline::TimeRange& range,
                   timeline::GroupBy group_by) {
  Samples samples;
  for (const auto& calls : run.calls()) {
    for (const auto& [row, id] : calls) {
      if (!is_in(range, row.rank, row.start_ns)) continue;
      samples[call_name(row, group_by)].push_back(
          {std::max<std::int64_t>(0, row.end_ns - row.start_ns), row.start_ns, row.bytes,
           row.rank});
    }
  }
  return samples;
}

void expect_table(const timeline::RangeTable& table, const Samples& samples, bool has_bytes) {
  SCOPED_TRACE("table " + std::to_string(static_cast<int>(table.table)));
  ASSERT_EQ(table.rows.size(), samples.size());
  std::int64_t count = 0, total = 0;
  double share = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const timeline::NameFigures& row = table.rows[i];
    EXPECT_LE(row.total_ns, table.rows[i > 0 ? i - 1 : 0].total_ns);
    ASSERT_TRUE(samples.contains(row.name)) << row.name;
    expect_figures(row, samples.at(row.name), has_bytes);
    count += row.count;
    if (__builtin_add_overflow(total, row.total_ns, &total)) total = INT64_MAX;
    share += row.share;
  }
  EXPECT_EQ(table.count, count);
  EXPECT_EQ(table.total_ns, total);
  if (total > 0 && total < INT64_MAX) {
    EXPECT_NEAR(share, 1, 1e-9);
  }
}

}  // namespace shardlens::trace::test
