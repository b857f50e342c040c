#include "app/session/files/trace_import.h"

#include <cmath>
#include <exception>
#include <utility>

#include "trace/base/text.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::app::session {

namespace {

std::string what_is_imported(const std::vector<std::filesystem::path>& files) {
  const std::string first = files.front().filename().string();
  if (files.size() == 1) return first;
  return first + " and " + std::to_string(files.size() - 1) + " more";
}

}  // namespace

TraceImport::TraceImport(std::filesystem::path runs_dir, std::function<void()> on_publish)
    : runs_dir_(std::move(runs_dir)),
      on_publish_(std::move(on_publish)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void TraceImport::add(std::vector<std::filesystem::path> files) {
  if (files.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(files));
  }
  wake_.notify_one();
}

ImportState TraceImport::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void TraceImport::publish(const std::string& notice, bool is_error,
                          const std::filesystem::path& imported) {
  {
    const std::lock_guard lock(mutex_);
    state_.notice = notice;
    state_.is_error = is_error;
    if (!imported.empty()) state_.imported = imported;
    ++state_.version;
  }
  on_publish_();
}

void TraceImport::work(const std::stop_token& stop) {
  while (true) {
    Files files;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
      files = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      import_files(files, stop);
    } catch (const std::exception& error) {
      publish("Could not import " + what_is_imported(files) + ": " + error.what(), true);
    }
  }
}

void TraceImport::import_files(const Files& files, const std::stop_token& stop) {
  const std::string what = what_is_imported(files);
  int shown = -1;
  trace::interop::ImportOptions options;
  options.progress = [&](double part) {
    const int percent = static_cast<int>(std::lround(part * 100));
    if (percent != std::exchange(shown, percent)) {
      publish("Importing " + what + ": " + std::to_string(percent) + " %", false);
    }
    return !stop.stop_requested();
  };
  const auto run = trace::interop::import_kineto(files, runs_dir_, options);
  if (!run) return publish(run.error().message, true);
  std::string notice = "Imported " + what + ": " + trace::base::grouped(run->events) + " events";
  for (const std::string& warning : run->warnings) notice += "; " + warning;
  publish(notice, false, run->folder);
}

}  // namespace shardlens::app::session
