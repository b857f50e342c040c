#include "profiler/process/warning_tail.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

namespace shardlens::profiler::process {
namespace {

using Level = trace::model::LogLine::Level;

constexpr std::chrono::milliseconds kInterval{500};
constexpr std::size_t kLongestLine = 4096;

bool are_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "[W1121 10:02:03.123456789 file.cpp:7] text": c10's form, with or without the date's digits and
// the bracket; see c10/util/Logging.cpp.
std::optional<LibraryWarning> from_libtorch(std::string_view line) {
  std::string_view rest = line;
  if (rest.starts_with('[')) rest.remove_prefix(1);
  if (rest.size() < 6 || (rest[0] != 'W' && rest[0] != 'E' && rest[0] != 'F')) return std::nullopt;
  if (!are_digits(rest.substr(1, 4)) || rest[5] != ' ') return std::nullopt;
  const std::size_t end = rest.find("] ");
  if (end == std::string_view::npos) return std::nullopt;
  const Level level = rest[0] == 'W' ? Level::kWarning : Level::kError;
  return LibraryWarning{level, "LibTorch: " + std::string(rest.substr(end + 2))};
}

}  // namespace

std::optional<LibraryWarning> library_warning(std::string_view line) {
  constexpr std::string_view kNccl = "NCCL WARN ";
  if (const auto at = line.find(kNccl); at != std::string_view::npos)
    return LibraryWarning{Level::kWarning, "NCCL: " + std::string(line.substr(at + kNccl.size()))};
  return from_libtorch(line);
}

WarningTail::WarningTail(recorder::Recorder& recorder, std::filesystem::path file)
    : recorder_(recorder),
      file_(std::move(file)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

WarningTail::~WarningTail() {
  thread_.request_stop();
  thread_.join();
}

void WarningTail::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "warning tail");
  while (!stop.stop_requested()) {
    look();
    std::unique_lock lock(mutex_);
    wait_.wait_for(lock, stop, kInterval, [] { return false; });
  }
  look();
}

void WarningTail::look() {
  std::error_code error;
  const auto size = std::filesystem::file_size(file_, error);
  if (error || size == read_bytes_ || lines_ > kMostLines) return;
  if (size < read_bytes_) {  // written anew
    read_bytes_ = 0;
    rest_.clear();
  }
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_bytes_));
  std::array<char, 16384> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    read_bytes_ += static_cast<std::uintmax_t>(in.gcount());
    rest_.append(part.data(), static_cast<std::size_t>(in.gcount()));
    std::size_t start = 0;
    for (std::size_t end; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1)
      take(std::string_view(rest_).substr(start, end - start));
    rest_.erase(0, start);
    // Something that is no text.
    if (rest_.size() > kLongestLine) rest_.clear();
  }
}

void WarningTail::take(std::string_view line) {
  const auto warning = library_warning(line.substr(0, kLongestLine));
  if (!warning || lines_ > kMostLines) return;
  if (++lines_ > kMostLines) {
    recorder_.log(Level::kWarning, "Libraries have written more warnings than are kept here; see " +
                                       file_.string() + ".");
    return;
  }
  recorder_.log(warning->level, warning->text);
}

}  // namespace shardlens::profiler::process
