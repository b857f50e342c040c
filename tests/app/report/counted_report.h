// A report of the synthetic run, and the same figures counted in microseconds from its raw rows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/report/report_json.h"
#include "tests/app/report/synthetic_run.h"
#include "trace/base/file_system.h"

namespace shardlens::app::report {

inline constexpr std::int64_t kTick = 1000;
inline constexpr double kTicksPerMs = 1000;
inline constexpr int kRanks = SyntheticRun::kRanks;
inline constexpr int kMeasured = SyntheticRun::kSteps - SyntheticRun::kSkipped;
inline constexpr auto kRankCount = static_cast<std::size_t>(kRanks);

// Which microseconds one rank spends on something.
class Timeline {
 public:
  void mark(std::int64_t start_ns, std::int64_t end_ns) {
    for (std::int64_t t = tick(start_ns); t < tick(end_ns); ++t) {
      if (t >= 0 && t < kLength) busy_[static_cast<std::size_t>(t)] = true;
    }
  }
  bool at(std::int64_t t) const { return busy_[static_cast<std::size_t>(t)]; }
  static std::int64_t tick(std::int64_t ns) { return (ns - SyntheticRun::kStart) / kTick; }

  static constexpr std::int64_t kLength =
      (SyntheticRun::kEnd + 1'000'000 - SyntheticRun::kStart) / kTick;

 private:
  std::vector<bool> busy_ = std::vector<bool>(kLength);
};

struct Parts {
  double compute = 0, comm = 0, overlap = 0, exposed = 0, copy = 0, exposed_copy = 0, idle = 0;
};

class ReportJson : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto folder = trace::base::TemporaryFolder::create();
    ASSERT_TRUE(folder);
    folder_ = new trace::base::TemporaryFolder(std::move(*folder));
    run_ = new SyntheticRun(write_synthetic_run(folder_->path()));
    const auto report = load_report(run_->folder);
    ASSERT_TRUE(report) << report.error().message;
    json_ = new Json(Json::parse(dump_json(report_json(*report))));
    compute_.assign(kRankCount, {});
    comm_.assign(kRankCount, {});
    copy_.assign(kRankCount, {});
    for (int rank = 0; rank < kRanks; ++rank) {
      for (const auto& e : run_->compute[rank]) compute_[index(rank)].mark(e.start_ns, e.end_ns());
      for (const auto& e : run_->copies[rank]) copy_[index(rank)].mark(e.start_ns, e.end_ns());
    }
    for (const auto& c : run_->collectives) comm_[index(c.rank)].mark(c.start_ns, c.end_ns);
  }
  static void TearDownTestSuite() {
    delete json_;
    delete run_;
    delete folder_;
  }

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

  static Parts parts_within(int rank, std::int64_t first, std::int64_t last) {
    Parts parts;
    for (std::int64_t t = first; t < last; ++t) {
      const bool compute = compute_[index(rank)].at(t);
      const bool comm = comm_[index(rank)].at(t);
      const bool copy = copy_[index(rank)].at(t);
      parts.compute += compute;
      parts.comm += comm;
      parts.overlap += compute && comm;
      parts.exposed += comm && !compute;
      parts.copy += copy;
      parts.exposed_copy += copy && !compute && !comm;
      parts.idle += !compute && !comm && !copy;
    }
    return parts;
  }
  static Parts parts_of(const trace::model::Step& step) {
    return parts_within(step.rank, Timeline::tick(step.start_ns), Timeline::tick(step.end_ns));
  }

  // Over measured steps and ranks.
  template <typename Value>
  static double mean(Value value) {
    double sum = 0;
    for (const auto& step : run_->steps) {
      if (step.index >= SyntheticRun::kSkipped) sum += value(step);
    }
    return sum / kMeasured / kRanks;
  }
  static double step_ms(const trace::model::Step& step) {
    return static_cast<double>(step.end_ns - step.start_ns) / 1e6;
  }

  static const trace::model::Step& step_of(int rank, std::int64_t step) {
    return *std::ranges::find_if(run_->steps,
                                 [&](const auto& s) { return s.rank == rank && s.index == step; });
  }

  static inline trace::base::TemporaryFolder* folder_ = nullptr;
  static inline SyntheticRun* run_ = nullptr;
  static inline Json* json_ = nullptr;
  static inline std::vector<Timeline> compute_, comm_, copy_;
};

inline void expect_near(const Json& value, double expected, const std::string& what) {
  ASSERT_TRUE(value.is_number()) << what << " is " << value;
  EXPECT_NEAR(value.get<double>(), expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
}

}  // namespace shardlens::app::report
