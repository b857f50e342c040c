// Takes the warnings that libraries write into a file, or to a standard error that goes there, into
// the recorded log: NCCL's ("NCCL WARN …") and LibTorch's ("[W1121 10:02:03 …] …"). It has a thread
// of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::process {

struct LibraryWarning {
  trace::model::LogLine::Level level = trace::model::LogLine::Level::kWarning;
  std::string text;
  bool operator==(const LibraryWarning&) const = default;
};
// None if the line is no library's warning.
std::optional<LibraryWarning> library_warning(std::string_view line);

class WarningTail {
 public:
  // What comes after so many stays in the file.
  static constexpr int kMostLines = 500;

  // The file may come later, or never. The recorder must outlive this.
  WarningTail(recorder::Recorder& recorder, std::filesystem::path file);
  ~WarningTail();  // takes in what came last

 private:
  void run(const std::stop_token& stop);
  void look();
  void take(std::string_view line);

  recorder::Recorder& recorder_;
  const std::filesystem::path file_;
  std::uintmax_t read_bytes_ = 0;
  std::string rest_;  // a line that is not yet complete
  int lines_ = 0;
  std::mutex mutex_;
  std::condition_variable_any wait_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace shardlens::profiler::process
