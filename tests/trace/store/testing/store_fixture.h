// What the tests of the store share: a run with rows of every kind, and comparison of batches.
// For the test's thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/files.h"
#include "trace/model/batch.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::test {

model::RunInfo run_info(const std::string& name, int ranks);

// Rows of every table for one step of one rank; strings only with step 0.
model::Batch step_batch(int rank, std::int64_t step);
// Operators as a CPU run records them: nested, names repeating.
std::vector<model::Event> operator_events(std::int64_t start_ns, std::size_t count, unsigned seed);

// A recorded run of `ranks` ranks and `steps` steps, closed. `commits`: one transaction per step.
std::filesystem::path record_run(const std::filesystem::path& runs_dir, const std::string& name,
                                 int ranks, std::int64_t steps, bool commit_each_step = false);

// Executes this on a trace.
void change_file(const std::filesystem::path& file, const std::string& sql);

// Until the file, which somebody writes, has as many.
void wait_until_committed(const std::filesystem::path& file, std::int64_t steps);

// All of a batch as text, rows in order, one line each, events counted one by one.
std::string text_of(const model::Batch& batch);
// One rank's batches joined.
model::Batch joined(const std::vector<model::Batch>& batches, int rank);

}  // namespace shardlens::trace::test
