// Writes bookmarks into their runs, one change after another, on a thread of its own. Public
// functions: any thread, none waits for a file; destroying it waits until all is written.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/bookmarks.h"

namespace shardlens::app::session {

class BookmarkKeeper {
 public:
  // Called on its thread: what the run has then, or why it could not be changed.
  using Kept = std::function<void(const std::filesystem::path& run,
                                  const trace::base::Result<trace::model::Bookmarks>& bookmarks)>;

  explicit BookmarkKeeper(Kept on_kept);

  void change(const std::filesystem::path& run, trace::model::BookmarkChange change);
  void wait_until_idle();

 private:
  struct Wish {
    std::filesystem::path run;
    trace::model::BookmarkChange change;
  };

  bool has_wishes_of(const std::filesystem::path& run);
  void work(const std::stop_token& stop);

  const Kept on_kept_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::vector<Wish> wishes_;
  bool busy_ = false;

  std::jthread thread_;  // last: stops first
};

}  // namespace shardlens::app::session
