// Every figure in the lessons that come with the program, against its run. None is forgotten: what
// has a unit, or decimals, must stand here, file by file, in the order of reading.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "app/lessons/lesson_file.h"
#include "app/report/run_report.h"
#include "app/report/tuning/predicted_run.h"
#include "tests/app/lessons/figures_in_text.h"
#include "trace/job/settings/grammars.h"

namespace shardlens::app::lessons {
namespace {

namespace fs = std::filesystem;
using trace::analysis::RunFigures;
using trace::analysis::StepBreakdown;
using trace::base::Phase;
using trace::model::MemoryCategory;
using trace::tuning::Prediction;
using ui::state::Lesson;
using ui::state::LessonPage;

const fs::path kAssetsFolder = fs::path(SHARDLENS_SOURCE_DIR) / "assets";

// ---- what the runs say ------------------------------------------------------------------------

double ms(double ns) { return ns / 1e6; }
double mib(double bytes) { return bytes / 1048576; }
double gib(double bytes) { return mib(bytes) / 1024; }

// Over the measured steps, of `value_of` each rank's part.
template <typename ValueOf>
double mean_of_steps(const RunFigures& run, ValueOf value_of) {
  double sum = 0;
  int count = 0;
  for (const auto& step : run.steps) {
    if (step.warmup || !step.complete) continue;
    for (const StepBreakdown& rank : step.ranks) {
      sum += static_cast<double>(value_of(rank));
      ++count;
    }
  }
  return sum / count;
}
double mean_ms(const RunFigures& run, std::int64_t StepBreakdown::*part) {
  return ms(mean_of_steps(run, [&](const StepBreakdown& rank) { return rank.*part; }));
}
double step_ms(const RunFigures& run) { return mean_ms(run, &StepBreakdown::step_ns); }
double exposed_ms(const RunFigures& run) { return mean_ms(run, &StepBreakdown::exposed_ns); }
double comm_ms(const RunFigures& run) { return mean_ms(run, &StepBreakdown::comm_ns); }
double overlap_ms(const RunFigures& run) { return mean_ms(run, &StepBreakdown::overlap_ns); }
double compute_ms(const RunFigures& run) { return mean_ms(run, &StepBreakdown::compute_ns); }
double phase_ms(const RunFigures& run, Phase phase) {
  const auto at = static_cast<std::size_t>(phase);
  return ms(mean_of_steps(run, [&](const StepBreakdown& rank) { return rank.phase_ns[at]; }));
}
double sent_mib(const RunFigures& run) {
  return mib(
      mean_of_steps(run, [](const StepBreakdown& rank) { return rank.bytes_sent.value_or(0); }));
}
double exposed_ms_of(const RunFigures& run, std::size_t rank) {
  double sum = 0;
  int count = 0;
  for (const auto& step : run.steps) {
    if (step.warmup || !step.complete) continue;
    sum += static_cast<double>(step.ranks.at(rank).exposed_ns);
    ++count;
  }
  return ms(sum / count);
}

double buckets_mib(const RunFigures& run) {
  std::int64_t bytes = 0;
  for (const auto& bucket : run.buckets) bytes += bucket.bytes;
  return mib(static_cast<double>(bytes));
}
double bucket_mib(const RunFigures& run, std::size_t bucket) {
  return mib(static_cast<double>(run.buckets.at(bucket).bytes));
}
double unit_mib(const RunFigures& run, std::size_t unit) {
  return mib(static_cast<double>(run.units.at(unit).bytes));
}
double units_mib(const RunFigures& run) {
  double sum = 0;
  for (std::size_t i = 0; i < run.units.size(); ++i) sum += unit_mib(run, i);
  return sum;
}
double blocks_of(const RunFigures& run) {
  return static_cast<double>(std::ranges::count_if(
      run.units, [](const auto& unit) { return unit.name.starts_with("blocks."); }));
}

// Of a bucket's reductions once buckets were rebuilt.
const trace::analysis::CollectiveGroupFigures& reduction(const RunFigures& run,
                                                         std::size_t bucket) {
  const auto found = std::ranges::find_if(run.collectives, [&](const auto& group) {
    return group.tag == "bucket " + std::to_string(bucket) &&
           group.bytes == run.buckets.at(bucket).bytes;
  });
  if (found == run.collectives.end())
    throw std::runtime_error("no bucket " + std::to_string(bucket));
  return *found;
}
// The only bucket of step 0, before they were rebuilt.
double first_bucket_mib(const RunFigures& run) {
  std::int64_t most = 0;
  for (const auto& group : run.collectives) {
    if (group.tag == "bucket 0") most = std::max(most, group.bytes);
  }
  return mib(static_cast<double>(most));
}

double held_bytes(const RunFigures& run, MemoryCategory category) {
  return static_cast<double>(run.ranks.at(0).peak.bytes.at(static_cast<std::size_t>(category)));
}
double peak_gib(const RunFigures& run) {
  return gib(static_cast<double>(run.ranks.at(0).peak.allocated_bytes()));
}
double delay_ms(const RunFigures& run) {
  return trace::job::parse_injections(run.info.settings.inject).value().at(0).delay_ms;
}
double link_gbit(const RunFigures& run) {
  return trace::job::parse_simulated_link(run.info.settings.simulate_link)
      .value()
      .value()
      .gbit_per_s;
}
double cap_mib(const RunFigures& run) { return run.info.settings.bucket_cap_mb; }

double predicted_peak_gib(const Prediction& prediction) {
  return gib(static_cast<double>(prediction.peaks.at(0).bytes));
}
double half_width_ms(const trace::tuning::Interval& interval) {
  return ms(interval.high_ns - interval.low_ns) / 2;
}

RunFigures run_of(const std::string& name) {
  auto run = report::load_run(kAssetsFolder / "runs" / (name + ".shardlens"));
  if (!run) throw std::runtime_error(run.error().message);
  return std::move(*run);
}
// Beside a page, with the settings that its view names.
Prediction predicted_by(const LessonPage& page) {
  std::vector<std::string> assignments;
  for (const auto& [knob, value] : page.view.value().settings) {
    assignments.push_back(knob + "=" + value);
  }
  auto run = report::predict_run(kAssetsFolder / "runs" / page.view->run,
                                 {.from_file = {}, .assignments = assignments});
  if (!run) throw std::runtime_error(run.error().message);
  return std::move(run->prediction);
}
double cap_mib(const LessonPage& page) { return std::stod(page.view.value().settings.at(0).value); }

// ---- both beside each other -------------------------------------------------------------------

struct Claim {
  std::string said;
  double is = 0;  // in the unit that is said
};
using Claims = std::vector<Claim>;

Claims of_reading_a_step(const Lesson&) {
  const auto slow = run_of("slow_link_cap_1"), ddp = run_of("h200_ddp_cap_25");
  return {{"251.3 ms", step_ms(slow)},
          {"22.0 ms", exposed_ms(slow)},
          {"170.3 ms", phase_ms(slow, Phase::kBackward)},
          {"72.0 ms", phase_ms(slow, Phase::kForward)},
          {"1 Gbit/s", link_gbit(slow)},
          {"86 %", 100 * exposed_ms(ddp) / step_ms(ddp)}};
}

Claims of_buckets_and_overlap(const Lesson&) {
  const auto slow = run_of("slow_link_cap_1");
  return {{"1 MiB", cap_mib(slow)},
          {"9.10 MiB", buckets_mib(slow)},
          {"8 buckets", static_cast<double>(slow.buckets.size())},
          {"107.8 ms", comm_ms(slow)},
          {"85.8 ms", overlap_ms(slow)},
          {"80 %", 100 * overlap_ms(slow) / comm_ms(slow)},
          {"22.0 ms", exposed_ms(slow)},
          {"251.3 ms", step_ms(slow)},
          {"22.0 ms", exposed_ms(slow)},
          {"9 %", 100 * exposed_ms(slow) / step_ms(slow)},
          {"10.8 ms", ms(reduction(slow, 7).exposed_ns)},
          {"9.10 MiB", first_bucket_mib(slow)}};
}

Claims of_bucket_caps(const Lesson& lesson) {
  const auto one = run_of("slow_link_one_bucket"), eight = run_of("slow_link_cap_1");
  const auto cap_25 = run_of("h200_ddp_cap_25"), cap_4 = run_of("h200_ddp_cap_4"),
             cap_1 = run_of("h200_ddp_cap_1");
  const Prediction larger = predicted_by(lesson.pages.at(4));
  const double sent = sent_mib(cap_25);
  EXPECT_NEAR(sent_mib(cap_4), sent, 0.001);
  EXPECT_NEAR(sent_mib(cap_1), sent, 0.001);
  EXPECT_EQ(overlap_ms(one), 0);
  EXPECT_NEAR(bucket_mib(cap_4, 37), bucket_mib(cap_4, 0), 0.01) << "two are that large";
  return {{"25 MiB", cap_mib(one)},
          {"9.10 MiB", buckets_mib(one)},
          {"85.5 ms", exposed_ms(one)},
          {"226.5 ms", phase_ms(one, Phase::kBackward)},
          {"170.3 ms", phase_ms(eight, Phase::kBackward)},
          {"1 MiB", cap_mib(eight)},
          {"251.3 ms", step_ms(eight)},
          {"307.5 ms", step_ms(one)},
          {"9.46 ms", compute_ms(eight) - compute_ms(one)},
          {"9.10 MiB", sent_mib(eight)},
          {"107.8 ms", comm_ms(eight)},
          {"85.5 ms", comm_ms(one)},
          {"25 MiB", cap_mib(cap_25)},
          {"4 MiB", cap_mib(cap_4)},
          {"622 MiB", sent},
          {"15 buckets", static_cast<double>(cap_25.buckets.size())},
          {"39 buckets", static_cast<double>(cap_4.buckets.size())},
          {"431.2 ms", step_ms(cap_25)},
          {"541.6 ms", step_ms(cap_4)},
          {"27.0 MiB", bucket_mib(cap_25, 1)},
          {"18.0 ms", ms(reduction(cap_25, 1).median_ns)},
          {"9.01 MiB", bucket_mib(cap_4, 2)},
          {"9.0 ms", ms(reduction(cap_4, 2).median_ns)},
          {"147 MiB", bucket_mib(cap_4, 0)},
          {"4 MiB", cap_mib(cap_4)},
          {"4 MiB", cap_mib(cap_4)},
          {"1 MiB", cap_mib(cap_1)},
          {"51 buckets", static_cast<double>(cap_1.buckets.size())},
          {"543.5 ms", step_ms(cap_1)},
          {"1.9 ms", step_ms(cap_1) - step_ms(cap_4)},
          {"50 MiB", cap_mib(lesson.pages.at(4))},
          {"24.3 ms", ms(larger.recorded_step_ns - larger.step_ns)},
          {"406.9 ms", ms(larger.step_ns)},
          {"431.2 ms", ms(larger.recorded_step_ns)}};
}

Claims of_a_late_rank(const Lesson& lesson) {
  const auto late = run_of("rank_1_late"), four = run_of("h200_rank_2_late");
  const Prediction cap_4 = predicted_by(lesson.pages.at(2));
  return {{"60 ms", delay_ms(late)},
          {"83.9 ms", exposed_ms_of(late, 0)},
          {"18.4 ms", exposed_ms_of(late, 1)},
          {"4 MiB", cap_mib(lesson.pages.at(2))},
          {"327.5 ms", ms(cap_4.step_ns)},
          {"301.4 ms", ms(cap_4.recorded_step_ns)},
          {"3.9 ms", half_width_ms(cap_4.difference.value())},
          {"15 ms", delay_ms(four)},
          {"110.8 ms", step_ms(four)},
          {"103.7 ms", exposed_ms_of(four, 0)},
          {"101.4 ms", exposed_ms_of(four, 1)},
          {"86.3 ms", exposed_ms_of(four, 2)},
          {"103.9 ms", exposed_ms_of(four, 3)}};
}

Claims of_gather_use_free(const Lesson&) {
  const auto ddp = run_of("h200_ddp_cap_25"), sharded = run_of("h200_full_shard");
  using enum trace::model::MemoryCategory;
  EXPECT_NEAR(held_bytes(sharded, kActivations), held_bytes(ddp, kActivations), 1 << 20);
  return {{"13 units", static_cast<double>(sharded.units.size())},
          {"12 blocks", blocks_of(sharded)},
          {"298 MiB", unit_mib(sharded, 0)},
          {"27.0 MiB", unit_mib(sharded, 1)},
          {"505.4 ms", comm_ms(sharded)},
          {"38.9 ms", compute_ms(sharded)},
          {"311 MiB", mib(held_bytes(sharded, kParameters))},
          {"622 MiB", mib(held_bytes(sharded, kOptimizer))},
          {"5.21 GiB", peak_gib(sharded)},
          {"298 MiB", mib(held_bytes(sharded, kGatheredParameters))},
          {"6.44 GiB", peak_gib(ddp)},
          {"5.21 GiB", peak_gib(sharded)},
          {"622 MiB", mib(held_bytes(ddp, kParameters))},
          {"311 MiB", mib(held_bytes(sharded, kParameters))},
          {"1.22 GiB", gib(held_bytes(ddp, kOptimizer))},
          {"622 MiB", mib(held_bytes(sharded, kOptimizer))},
          {"622 MiB", mib(held_bytes(ddp, kCommunication))},
          {"298 MiB", mib(held_bytes(sharded, kGatheredParameters))},
          {"4.01 GiB", gib(held_bytes(ddp, kActivations))}};
}

Claims of_prefetch(const Lesson& lesson) {
  const auto with = run_of("h200_full_shard"), without = run_of("h200_full_shard_no_prefetch");
  const Prediction none = predicted_by(lesson.pages.at(2));
  EXPECT_NEAR(peak_gib(without), peak_gib(with), 0.005);
  return {{"35.7 ms", overlap_ms(with)},
          {"13.8 ms", overlap_ms(without)},
          {"480.2 ms", exposed_ms(without)},
          {"469.7 ms", exposed_ms(with)},
          {"518.9 ms", step_ms(without)},
          {"510.9 ms", step_ms(with)},
          {"38.9 ms", compute_ms(with)},
          {"27.0 MiB", unit_mib(with, 1)},
          {"5.21 GiB", peak_gib(with)},
          {"19.6 ms", ms(none.step_ns - none.recorded_step_ns)},
          {"8.0 ms", step_ms(without) - step_ms(with)}};
}

Claims of_what_a_strategy_needs(const Lesson& lesson) {
  const auto ddp = run_of("h200_ddp_cap_25"), sharded = run_of("h200_full_shard");
  const Prediction full = predicted_by(lesson.pages.at(0));
  const Prediction between = predicted_by(lesson.pages.at(2));
  // A ring of two ranks sends half of what is gathered or scattered.
  const double half = units_mib(sharded) / 2, again = half - unit_mib(sharded, 0) / 2;
  return {{"520.7 ms", ms(full.step_ns)},
          {"431.2 ms", step_ms(ddp)},
          {"5.21 GiB", predicted_peak_gib(full)},
          {"6.44 GiB", peak_gib(ddp)},
          {"510.9 ms", step_ms(sharded)},
          {"5.21 GiB", peak_gib(sharded)},
          {"1.9 %", 100 * (1 - step_ms(sharded) / ms(full.step_ns))},
          {"622 MiB", sent_mib(ddp)},
          {"311 MiB", half},
          {"162 MiB", again},
          {"311 MiB", half},
          {"784 MiB", sent_mib(sharded)},
          {"26 %", 100 * (sent_mib(sharded) / sent_mib(ddp) - 1)},
          {"425.6 ms", ms(between.step_ns)},
          {"5.53 GiB", predicted_peak_gib(between)}};
}

Claims of_predict_then_run(const Lesson& lesson) {
  const auto one = run_of("slow_link_one_bucket"), eight = run_of("slow_link_cap_1");
  const Prediction small = predicted_by(lesson.pages.at(0));
  EXPECT_EQ(small.parts, 8U);
  const auto interval = small.interval.value();
  return {{"307.5 ms", step_ms(one)},
          {"253.5 ms", ms(small.step_ns)},
          {"54 ms", ms(small.recorded_step_ns - small.step_ns)},
          {"12 ms", half_width_ms(small.difference.value())},
          {"251.3 ms", step_ms(eight)},
          {"253.5 ms", ms(small.step_ns)},
          {"238.8 ms", ms(interval.low_ns)},
          {"268.3 ms", ms(interval.high_ns)},
          {"22.0 ms", exposed_ms(eight)},
          {"22.3 ms", ms(small.exposed_ns.value())}};
}

double number_of(const std::string& said) { return std::stod(said.substr(0, said.find(' '))); }
// Half a unit of the last digit that is said.
double rounding_of(const std::string& said) {
  const auto number = said.substr(0, said.find(' '));
  const auto point = number.find('.');
  const auto decimals = point == number.npos ? 0 : number.size() - point - 1;
  return 0.5001 * std::pow(10, -static_cast<double>(decimals));
}

struct LessonClaims {
  std::string file;
  Claims (*claims)(const Lesson&);
};

TEST(BundledFigures, AreThoseOfTheRuns) {
  const std::vector<LessonClaims> all{{"1_reading_a_step.md", of_reading_a_step},
                                      {"2_buckets_and_overlap.md", of_buckets_and_overlap},
                                      {"3_bucket_caps.md", of_bucket_caps},
                                      {"4_a_late_rank.md", of_a_late_rank},
                                      {"5_gather_use_free.md", of_gather_use_free},
                                      {"6_prefetch.md", of_prefetch},
                                      {"7_what_a_strategy_needs.md", of_what_a_strategy_needs},
                                      {"8_predict_then_run.md", of_predict_then_run}};
  const auto lessons = read_lessons({kAssetsFolder / "lessons"}).lessons;
  ASSERT_EQ(lessons.size(), all.size()) << "each has its claims";
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].file);
    EXPECT_EQ(fs::path(lessons[i].file).filename().string(), all[i].file);
    std::vector<std::string> said;
    for (const Claim& claim : all[i].claims(lessons[i])) {
      said.push_back(claim.said);
      EXPECT_NEAR(claim.is, number_of(claim.said), rounding_of(claim.said)) << claim.said;
    }
    EXPECT_EQ(figures_in(text_of(lessons[i])), said) << "in order of reading";
  }
}

}  // namespace
}  // namespace shardlens::app::lessons
