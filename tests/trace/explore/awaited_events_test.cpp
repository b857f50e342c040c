// What is shown of time whose events were not recorded, or are still to come: neither is idle.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/trace/explore/testing/known_run.h"
#include "trace/explore/explored_run.h"
#include "trace/explore/run/rank_overview.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::test {
namespace {

constexpr int kHostLane = 0, kComputeLane = 1, kCommLane = 2;

// One rank, steps of 100 ms.
class CommittedRun {
 public:
  explicit CommittedRun(const std::string& device) {
    path_ = *store::create_run(folder_.path(), info_, false);
    auto writer = store::RowWriter::create_file(store::rank_file(path_, 0), 0);
    EXPECT_TRUE(writer) << writer.error().message;
    writer_.emplace(std::move(*writer));
    next_.strings = {{0, 1, "sm90_gemm"}, {0, 2, "cudaLaunchKernel"}, {0, 3, "ncclDevKernel"}};
    next_.lanes = {{0, kHostLane, model::LaneKind::kOperators, 0},
                   {0, kComputeLane, model::LaneKind::kCompute, 0},
                   {0, kCommLane, model::LaneKind::kCommunication, 0}};
    next_.rank_info = model::RankInfo{};
    next_.rank_info->device = device;
  }

  static std::int64_t at_ms(std::int64_t ms) { return KnownRun::at(0, ms * 1'000); }
  void add_step(std::int64_t index, bool full_detail = true) {
    model::Step step;
    step.index = index;
    step.start_ns = at_ms(index * 100);
    step.end_ns = at_ms(index * 100 + 100);
    step.full_detail = full_detail;
    next_.steps.push_back(step);
  }
  void add_event(int lane, model::EventKind kind, model::StringId name, std::int64_t from_ms,
                 std::int64_t to_ms) {
    const model::Event event{at_ms(from_ms), at_ms(to_ms) - at_ms(from_ms), name, 0, 0, 0};
    next_.events.push_back({0, lane, kind, {event}});
  }
  void add_kernel(std::int64_t from_ms, std::int64_t to_ms) {
    add_event(kComputeLane, model::EventKind::kKernel, 1, from_ms, to_ms);
  }
  void add_collective(std::int64_t sequence, std::int64_t from_ms, std::int64_t to_ms) {
    model::Collective row;
    row.lane = kCommLane;
    row.sequence = sequence;
    row.function = row.executed = model::CollectiveFunction::kAllReduce;
    row.start_ns = at_ms(from_ms);
    row.end_ns = at_ms(to_ms);
    next_.collectives.push_back(row);
  }
  void commit() {
    EXPECT_TRUE(writer_->begin());
    EXPECT_TRUE(writer_->write(std::exchange(next_, {})));
    EXPECT_TRUE(writer_->commit(at_ms(1'000)));
  }
  // What a rank adds that leaves in order.
  void close() { next_.strings = {{0, 4, std::string(model::kClosedInOrder)}}; }
  void end(model::RunStatus status) {
    info_.status = status;
    EXPECT_TRUE(store::update_run(path_, info_));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  Folder folder_;
  model::RunInfo info_ = run_info("committed", 1);
  std::filesystem::path path_;
  std::optional<store::RowWriter> writer_;
  model::Batch next_;
};

void work_on(explore::RunExplorer& run) {
  while (run.work().value_or(false)) {
  }
}

// Of a row's ribbon over a time, milliseconds of a class; from events or from afar.
double shown_ms(explore::RunExplorer& run, int row, base::Interval time, double cells,
                base::TimeClass wanted, bool is_exact) {
  const double ns_per_pixel =
      static_cast<double>(explore::cell_length_ns(explore::kFinestCellBits)) * cells;
  const timeline::RowPicture picture = picture_of(
      run, row, time.start_ns, time.end_ns, static_cast<double>(time.length()) / ns_per_pixel);
  EXPECT_EQ(picture.is_exact, is_exact);
  double sum = 0;
  for (const timeline::Piece& piece : picture.pieces) {
    if (piece.piece_class == wanted) sum += static_cast<double>(piece.duration_ns());
  }
  for (const timeline::RibbonColumn& column : picture.columns) {
    sum += static_cast<double>(column.share[base::index_of(wanted)]) *
           static_cast<double>(column.end_ns - column.start_ns);
  }
  return sum / 1e6;
}

void expect_ribbons(explore::RunExplorer& run, double compute_ms, double idle_ms) {
  const auto rows = run.rows();
  const base::Interval whole{rows->start_ns, rows->end_ns};
  for (const int row : {0, row_named(*rows, 0, "Rank 0")}) {
    for (const auto& [cells, is_exact] : {std::pair{0.999, true}, std::pair{1.0, false}}) {
      SCOPED_TRACE("row " + std::to_string(row) + (is_exact ? " from events" : " from afar"));
      EXPECT_NEAR(shown_ms(run, row, whole, cells, base::TimeClass::kCompute, is_exact), compute_ms,
                  0.5);
      EXPECT_NEAR(shown_ms(run, row, whole, cells, base::TimeClass::kIdle, is_exact), idle_ms, 0.5);
    }
  }
}

TEST(UnrecordedTime, IsIdleAtNoZoom) {
  CommittedRun run("cpu");
  for (const std::int64_t step : {0, 1, 2, 3}) run.add_step(step, step == 0 || step == 3);
  run.add_kernel(0, 60);
  run.add_kernel(300, 360);
  run.commit();
  expect_ribbons(*open_whole(run.path()), 120, 80);
}

// Steps reach to 200 ms and the host further, the GPU's events only to 50.
TEST(AwaitedEvents, AreNoIdleTimeUntilTheyHaveComeOrTheRunHasEnded) {
  CommittedRun run("cuda:0");
  run.add_step(0);
  run.add_step(1);
  run.add_event(kHostLane, model::EventKind::kLaunch, 2, 209, 210);
  run.add_kernel(0, 20);
  run.add_kernel(40, 50);
  run.commit();
  const auto opened = open_whole(run.path(), true);
  ASSERT_TRUE(opened);
  explore::RunExplorer& explorer = *opened;
  expect_ribbons(explorer, 30, 20);
  const int ribbon = row_named(*explorer.rows(), 0, "Rank 0");
  const auto is_complete = [&](std::int64_t from_ms, std::int64_t to_ms, double pixels) {
    return picture_of(explorer, ribbon, CommittedRun::at_ms(from_ms), CommittedRun::at_ms(to_ms),
                      pixels)
        .is_complete;
  };
  for (const double pixels : {30.0, 3'000.0}) {
    EXPECT_TRUE(is_complete(0, 50, pixels));
    EXPECT_FALSE(is_complete(100, 200, pixels)) << "said to be read";
  }
  run.add_kernel(150, 160);
  run.commit();
  EXPECT_TRUE(explorer.refresh().value_or(false));
  work_on(explorer);
  expect_ribbons(explorer, 40, 120);
  run.end(model::RunStatus::kDone);
  EXPECT_TRUE(explorer.refresh(true).value_or(false));
  work_on(explorer);
  expect_ribbons(explorer, 40, 170);
  EXPECT_TRUE(is_complete(100, 200, 30));
}

// Steps reach to 200 ms, the GPU's events to 160: what it did then was lost with its process.
TEST(LostEvents, AreNoIdleTimeUnlessTheRankHasLeftInOrder) {
  using enum model::RunStatus;
  for (const auto status : {kRunning, kStopped, kFailed}) {
    for (const bool is_closed : {false, true}) {
      SCOPED_TRACE(std::string(model::to_string(status)) + (is_closed ? ", closed" : ""));
      CommittedRun run("cuda:0");
      run.add_step(0);
      run.add_step(1);
      run.add_kernel(0, 50);
      run.add_kernel(150, 160);
      run.commit();
      const auto followed = open_whole(run.path(), true);
      ASSERT_TRUE(followed);
      expect_ribbons(*followed, 60, 100);
      if (is_closed) run.close();
      run.commit();
      run.end(status);
      EXPECT_TRUE(followed->refresh(true).value_or(false));
      work_on(*followed);
      const auto opened = open_whole(run.path());
      ASSERT_TRUE(opened);
      for (explore::RunExplorer* const explorer : {followed.get(), opened.get()}) {
        expect_ribbons(*explorer, 60, is_closed ? 140 : 100);
        const int ribbon = row_named(*explorer->rows(), 0, "Rank 0");
        EXPECT_TRUE(
            picture_of(*explorer, ribbon, CommittedRun::at_ms(100), CommittedRun::at_ms(200), 30)
                .is_complete)
            << "no more is to come";
      }
    }
  }
}

// One kernel may carry several collectives, so that there are more of these than of all kernels.
TEST(CommunicationLane, ShowsKernelsThatComputeBesideMoreCollectives) {
  for (const bool has_cast : {false, true}) {
    CommittedRun run("cuda:0");
    run.add_step(0);
    run.add_event(kCommLane, model::EventKind::kKernel, 3, 10, 20);
    if (has_cast) run.add_event(kCommLane, model::EventKind::kKernel, 1, 20, 22);
    for (const std::int64_t sequence : {0, 1, 2}) run.add_collective(sequence, 10, 20);
    run.commit();
    const auto opened = open_whole(run.path());
    ASSERT_TRUE(opened);
    const auto rows = opened->rows();
    EXPECT_EQ(
        std::ranges::count(rows->rows, timeline::RowKind::kKernels, &timeline::TimelineRow::kind),
        has_cast ? 1 : 0);
  }
}

// Kernels of a step may be committed after its collectives.
TEST(AwaitedEvents, ThatHideACollectiveAreSeenThoughTheyCameLater) {
  CommittedRun run("cuda:0");
  run.add_step(0);
  run.add_collective(0, 10, 20);
  run.add_collective(1, 30, 80);
  run.add_kernel(10, 20);
  run.commit();
  auto opened = explore::ExploredRun::open(run.path(), {}, true);
  ASSERT_TRUE(opened) << opened.error().message;
  explore::ExploredRun& explored = **opened;
  const auto classes = [&] {
    while (explored.work().value_or(false)) {
    }
    const auto exposure = explored.snapshot()->rank(0)->exposure;
    return exposure ? *exposure : std::vector<base::TimeClass>{};
  };
  using enum base::TimeClass;
  EXPECT_EQ(classes(), (std::vector{kOverlapped, kExposed}));
  run.add_kernel(40, 90);
  run.commit();
  EXPECT_TRUE(explored.refresh().value_or(false));
  EXPECT_EQ(classes(), (std::vector{kOverlapped, kOverlapped}));
}

}  // namespace
}  // namespace shardlens::trace::test
