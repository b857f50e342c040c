// A run of known figures, written through the real writer as recorders would. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/files.h"
#include "trace/model/batch.h"
#include "trace/model/run_info.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app::session {

// Every step: 1 ms data, 4 ms forward, 10 ms backward, 3 ms optimizer, 2 ms rest; two buckets, each
// 4 ms, the second exposed for 2 ms. The i-th step starts at start_ns + i × step_ns.
struct SyntheticOptions {
  std::string name = "synthetic";
  int ranks = 2;
  std::int64_t step_ns = 20'000'000;
  std::int64_t start_ns = 1'700'000'000'000'000'000;
  std::int64_t first_step = 0;  // as of one that was resumed
  trace::job::Settings settings;
  std::string device = "cpu";
  std::vector<std::string> tags{};
};

class SyntheticRun {
 public:
  SyntheticRun(const std::filesystem::path& runs_dir, SyntheticOptions options = {});

  // Submits the next `count` steps of all ranks, each as one batch per rank. `stretch` makes them
  // longer or shorter: 1.1 takes 10 % more time.
  void add_steps(int count, double stretch = 1);
  void log(int rank, const std::string& text);
  // The recorders are alive at this moment.
  void beat(std::int64_t now_ns);
  // Closes the files and sets the status.
  void finish(trace::model::RunStatus status = trace::model::RunStatus::kDone,
              const std::string& reason = "");

  const std::filesystem::path& folder() const { return folder_; }
  const trace::model::RunInfo& info() const { return info_; }

 private:
  trace::model::Batch first_batch(int rank) const;
  trace::model::Batch step_batch(int rank, std::int64_t index, double stretch) const;

  SyntheticOptions options_;
  trace::model::RunInfo info_;
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<trace::store::TraceWriter>> writers_;
  std::int64_t steps_ = 0;
  std::int64_t now_ns_ = 0;
};

// The folder of one that has ended.
std::filesystem::path finished_run(const std::filesystem::path& runs_dir,
                                   const SyntheticOptions& options = {}, int steps = 6,
                                   double stretch = 1);
// As if its files had been written an hour ago: what may still be written is not kept.
void let_rest(const std::filesystem::path& run);

using TemporaryFolder = trace::test::Folder;

}  // namespace shardlens::app::session
