// Traces of PyTorch's profiler in its JSON, made by hand, and the runs that become of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/run/run_analysis.h"
#include "trace/base/file_system.h"
#include "trace/interop/kineto_import.h"
#include "trace/model/strings.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::trace::interop {

inline std::string complete(const std::string& category, const std::string& name,
                            const std::string& thread, double start_us, double duration_us,
                            const std::string& arguments = "") {
  return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
         "\",\"pid\":" + (category == "kernel" || category == "gpu_memcpy" ? "0" : "77") +
         ",\"tid\":" + thread + ",\"ts\":" + std::to_string(start_us) +
         ",\"dur\":" + std::to_string(duration_us) + ",\"args\":{" + arguments + "}}";
}

// `events`: of a trace with this distributedInfo, "" for none.
inline std::string trace_of(const std::vector<std::string>& events, const std::string& info) {
  std::string text = "{";
  if (!info.empty()) text += "\"distributedInfo\":{" + info + "},";
  text += "\"traceEvents\":[";
  for (const auto& event : events) text += (text.back() == '[' ? "" : ",") + event;
  return text + "]}";
}

inline std::string kernel_at(const std::string& ts, const std::string& duration = "5") {
  return "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" + ts +
         ",\"dur\":" + duration + ",\"args\":{\"device\":0,\"stream\":7}}";
}

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
