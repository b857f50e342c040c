#include "app/cli/terminal/stop_request.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/cli/terminal/output.h"
#include "trace/base/printable.h"

namespace shardlens::app::cli {
namespace {

using namespace std::chrono_literals;

// Work asks many times a second; what does not may take this long, so that all ends in a second.
constexpr auto kPatience = 600ms;
constexpr auto kForever = 24h;

void remove_all_of(const std::filesystem::path& path) {
  std::error_code error;
  // The work goes on meanwhile and may make a file in a folder that is being emptied.
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::filesystem::remove_all(path, error);
    if (!error) break;
  }
  for (const char* part : {"-journal", "-wal", "-shm"}) {
    std::filesystem::path beside = path;
    std::filesystem::remove(beside += part, error);
  }
}

}  // namespace

PercentLine::PercentLine(std::string what)
    : what_(trace::base::printable_line(what)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

void PercentLine::show(double part) {
  const int percent = static_cast<int>(std::clamp(part, 0.0, 1.0) * 100);
  if (!is_terminal_ || percent == shown_) return;
  shown_ = percent;
  std::fprintf(stderr, "\r\033[K%s, %d %%", what_.c_str(), percent);
  std::fflush(stderr);
}

void PercentLine::end() {
  if (shown_ < 0) return;
  shown_ = -1;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

StopRequest::StopRequest(std::string what) : line_(std::move(what)), thread_([this] { watch(); }) {}

StopRequest::~StopRequest() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  pthread_kill(thread_.native_handle(), SIGTERM);  // ends its wait
  thread_.join();
}

std::function<bool(double)> StopRequest::progress() {
  return [this](double part) {
    line_.show(part);
    return !is_made();
  };
}

void StopRequest::remove_if_ended(const std::filesystem::path& half_made) {
  const std::lock_guard lock(mutex_);
  half_made_.push_back(half_made);
}

void StopRequest::keep_all() {
  const std::lock_guard lock(mutex_);
  half_made_.clear();
}

void StopRequest::watch() {
  while (!is_over_ && !signals_.wait(kForever)) {
  }
  if (is_over_) return;
  is_made_ = true;
  std::unique_lock lock(mutex_);
  if (!over_.wait_for(lock, kPatience, [this] { return is_over_.load(); })) end_program();
}

void StopRequest::end_program() {
  for (const auto& path : half_made_) remove_all_of(path);
  if (isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
  print_message("error: stopped");
  _exit(kFailed);
}

}  // namespace shardlens::app::cli
