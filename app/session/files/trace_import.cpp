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

TraceImport::TraceImport(std::filesystem::path runs_dir, Notice& notice)
    : runs_dir_(std::move(runs_dir)),
      notice_(notice),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void TraceImport::add(std::vector<std::filesystem::path> files, std::string left_out) {
  if (files.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back({std::move(files), std::move(left_out)});
  }
  wake_.notify_one();
}

std::optional<std::filesystem::path> TraceImport::take_imported() {
  const std::lock_guard lock(mutex_);
  return std::exchange(imported_, std::nullopt);
}

std::vector<std::string> TraceImport::under_way() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const Request& request : requests_) {
    all.push_back("the import of " + what_is_imported(request.files));
  }
  return all;
}

void TraceImport::work(const std::stop_token& stop) {
  while (true) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !requests_.empty(); })) return;
      request = requests_.front();
    }
    Notice::Words outcome;
    try {
      outcome = carry_out(request, stop);
    } catch (const std::exception& error) {
      outcome = {"Could not import " + what_is_imported(request.files) + ": " + error.what(), true};
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.pop_front();
    }
    notice_.say(outcome.text, outcome.is_error);
  }
}

Notice::Words TraceImport::carry_out(const Request& request, const std::stop_token& stop) {
  const std::string what = what_is_imported(request.files);
  int shown = -1;
  trace::interop::ImportOptions options;
  options.progress = [&](double part) {
    const int percent = static_cast<int>(std::lround(part * 100));
    if (percent != std::exchange(shown, percent)) {
      notice_.say("Importing " + what + ": " + std::to_string(percent) + " %");
    }
    return !stop.stop_requested();
  };
  const auto run = trace::interop::import_kineto(request.files, runs_dir_, options);
  if (!run) return {run.error().message, true};
  std::string words = "Imported " + what + ": " + trace::base::grouped(run->events) + " events";
  for (const std::string& warning : run->warnings) words += "; " + warning;
  if (!request.left_out.empty()) words += ". Not opened: " + request.left_out;
  const std::lock_guard lock(mutex_);
  imported_ = run->folder;
  return {words, !request.left_out.empty()};
}

}  // namespace shardlens::app::session
