#include "app/session/inspect/bookmark_keeper.h"

#include <algorithm>
#include <utility>

#include "app/session/runs/run_words.h"

namespace shardlens::app::session {

BookmarkKeeper::BookmarkKeeper(Kept on_kept)
    : on_kept_(std::move(on_kept)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void BookmarkKeeper::change(const std::filesystem::path& run, trace::model::BookmarkChange change) {
  {
    const std::lock_guard lock(mutex_);
    wishes_.push_back({run, std::move(change)});
  }
  changed_.notify_all();
}

void BookmarkKeeper::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return wishes_.empty() && !busy_; });
}

bool BookmarkKeeper::has_wishes_of(const std::filesystem::path& run) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(wishes_, [&](const Wish& wish) { return wish.run == run; });
}

// Told to stop, it still writes what was asked for before.
void BookmarkKeeper::work(const std::stop_token& stop) {
  while (true) {
    std::vector<Wish> wishes;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !wishes_.empty(); })) return;
      wishes = std::exchange(wishes_, {});
      busy_ = true;
    }
    for (std::size_t at = 0; at < wishes.size();) {
      const std::filesystem::path run = wishes[at].run;
      std::vector<trace::model::BookmarkChange> changes;
      for (; at < wishes.size() && wishes[at].run == run; ++at) {
        changes.push_back(std::move(wishes[at].change));
      }
      const auto kept = change_bookmarks(run, changes);
      // Whoever shows them knows already of what follows.
      if (!kept || !has_wishes_of(run)) on_kept_(run, kept);
    }
    {
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    changed_.notify_all();
  }
}

}  // namespace shardlens::app::session
