// A recorded run of two ranks and three steps of which every row is known: what pictures and
// details are compared with. For the test's thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/explore/run_explorer.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::test {

// Times of a step, from its start, in microseconds: forward 0-40,000, backward 40,000-80,000,
// optimizer 80,000-100,000. Kernels: "gemm" 5,000-25,000 and 50,000-70,000, "adam" 85,000-95,000.
// An all-reduce of bucket 0 in 60,000-78,000 (rank 0) and 64,000-78,000 (rank 1): 10,000 of rank 0
// under compute. Launches some milliseconds before their kernels, inside operators.
class KnownRun {
 public:
  // `steps`: that are there from the beginning; fewer than all are those of a live run.
  explicit KnownRun(std::int64_t steps = kSteps);
  ~KnownRun();

  // One more step on every rank, as a live run commits it.
  void add_step();
  // By rank.
  void put_on_hosts(const std::array<const char*, 2>& names);
  // Of which nobody needs another rank to have begun.
  void turn_into_broadcasts();
  // Rank 0's clock is 300 ms ahead; in step 1 it waits, by both clocks, for 704 ms.
  void let_clocks_contradict();

  static constexpr std::int64_t kBegin = 1'790'000'000'000'000'000;
  static constexpr std::int64_t kStepNs = 100'000'000;
  static constexpr std::int64_t kSteps = 3;
  static constexpr int kPhases = 0, kThread = 1, kCompute = 2, kComm = 3, kCopies = 4;
  static constexpr std::int64_t at(std::int64_t step, std::int64_t microseconds) {
    return kBegin + step * kStepNs + microseconds * 1'000;
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  Folder folder_;
  std::filesystem::path path_;
  std::vector<store::RowWriter> writers_;
  std::int64_t steps_ = 0;
};

// Opened, and all read.
std::unique_ptr<explore::RunExplorer> open_whole(const std::filesystem::path& run,
                                                 bool is_live = false);
// The id of a row by its rank and label; −1: there is none.
int row_named(const timeline::TimelineRows& rows, int rank, const std::string& label);
// One row over a window, `pixels` wide.
timeline::RowPicture picture_of(explore::RunExplorer& run, int row, std::int64_t start_ns,
                                std::int64_t end_ns, double pixels,
                                std::vector<std::string>* names = nullptr);

}  // namespace shardlens::trace::test
