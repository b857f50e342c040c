// Traces of PyTorch's profiler in its JSON, made by hand, and the runs that become of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/trace/interop/trace_text.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/base/file_system.h"
#include "trace/interop/kineto_import.h"
#include "trace/model/strings.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::trace::interop {

inline ImportOptions named(const std::string& name, bool overwrite = false) {
  ImportOptions options;
  options.name = name;
  options.overwrite = overwrite;
  return options;
}

class KinetoImport : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    const auto file = folder_->path() / name;
    std::ofstream(file) << text;
    return file;
  }
  std::filesystem::path runs() const { return folder_->path() / "runs"; }

  // A text for each rank, as one run.
  ImportedRun import_of(const std::vector<std::string>& traces) {
    std::vector<std::filesystem::path> files;
    for (const std::string& trace : traces) {
      files.push_back(write("rank" + std::to_string(files.size()) + ".json", trace));
    }
    const auto run = import_kineto(files, runs(), named("job", true));
    EXPECT_TRUE(run) << run.error().message;
    return *run;
  }
  // The traces of a job's first ranks, as `change` leaves each, as one run.
  template <typename Writer, typename Job, typename Change>
  ImportedRun import_changed(const Job& job, const Change& change, int ranks = 2) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < ranks; ++rank) {
      traces.push_back(Writer(job, rank).text());
      change(traces.back());
    }
    return import_of(traces);
  }
  template <typename Writer, typename Job>
  ImportedRun import_job(const Job& job, int ranks = 2) {
    return import_changed<Writer>(
        job, [](std::string&) {}, ranks);
  }

  struct Run {
    analysis::RunFigures figures;
    model::StringTable strings;
    std::vector<model::Batch> batches;
  };
  static Run open(const std::filesystem::path& run) {
    auto reader = store::RunReader::open(run);
    EXPECT_TRUE(reader) << reader.error().message;
    Run result;
    analysis::RunAnalysis analysis(*(*reader)->info());
    for (;;) {
      auto batches = (*reader)->poll();
      EXPECT_TRUE(batches);
      if (!batches || batches->empty()) break;
      for (model::Batch& batch : *batches) {
        analysis.add(batch);
        for (const auto& string : batch.strings) result.strings.add(string);
        result.batches.push_back(std::move(batch));
      }
    }
    result.figures = analysis.figures();
    return result;
  }

  base::Result<base::TemporaryFolder> folder_ = base::TemporaryFolder::create();
};

}  // namespace shardlens::trace::interop
