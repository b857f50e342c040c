#include "trace/store/chunk/run_chunks.h"

#include <algorithm>
#include <tuple>

#include "trace/base/side_by_side.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// A file that was not read lately has a page in each block, and whoever lists them waits for the
// disk, not for a core.
constexpr int kLeastReaders = 8;

// Idle connections beside one for each file, so that who reads all files in turns opens none anew,
// nor do several threads that read the same one.
constexpr std::size_t kMoreIdle = 64;

auto place_of(const ChunkEntry& chunk) {
  return std::tuple(chunk.rank, chunk.lane, chunk.kind, chunk.header.first_ns, chunk.row_id);
}

}  // namespace

RunChunks::RunChunks(fs::path run)
    : run_(std::move(run)), idle_(std::make_shared<IdleConnections>(kMoreIdle)) {}

base::Result<std::unique_ptr<RunChunks>> RunChunks::open(const fs::path& run, int threads) {
  std::unique_ptr<RunChunks> chunks(new RunChunks(run));
  chunks->list_ = std::make_shared<const std::vector<ChunkEntry>>();
  std::error_code ignored;
  chunks->is_folder_ = fs::is_directory(run, ignored);
  chunks->find_files();
  // A run whose ranks have not begun has no files yet; another folder is none.
  if (chunks->files_.empty()) TRY(read_run_info(run));
  auto news = chunks->read_news(std::max(threads, kLeastReaders));
  const auto is_open = [](const FileNews& one) { return one.opened != nullptr; };
  if (!news.empty() && std::ranges::none_of(news, is_open)) {
    return tl::make_unexpected(*news.front().error);
  }
  chunks->take(std::move(news));
  return chunks;
}

void RunChunks::find_files() {
  std::vector<fs::path> paths;
  if (is_folder_) {
    for (const auto& [rank, path] : rank_files(run_)) paths.push_back(path);
  } else {
    paths.push_back(run_);
  }
  const std::unique_lock lock(mutex_);
  for (fs::path& path : paths) {
    const auto known = [&](const auto& file) { return file->path == path; };
    if (std::ranges::any_of(files_, known)) continue;
    files_.push_back(std::make_unique<File>());
    files_.back()->path = std::move(path);
  }
  idle_->allow(files_.size() + kMoreIdle);
}

std::vector<RunChunks::FileNews> RunChunks::read_news(int threads) {
  std::vector<FileNews> news(files_.size());
  base::for_each_side_by_side(threads, news.size(), [&](int, std::size_t i) {
    ChunkFile* file = files_[i]->file.get();
    if (!file) {
      auto opened = ChunkFile::open(files_[i]->path, idle_);
      if (opened) {
        news[i].opened = std::move(*opened);
        file = news[i].opened.get();
      } else {
        news[i].error = opened.error();
        return;
      }
    }
    auto rows = file->tail();
    if (rows) {
      news[i].rows = std::move(*rows);
    } else {
      news[i].error = rows.error();
    }
  });
  return news;
}

RunChunks::News RunChunks::take(std::vector<FileNews> all) {
  News news;
  std::vector<ChunkEntry> added;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int number = static_cast<int>(i);
    const ChunkFile::News& rows = all[i].rows;
    names_.add(rows.strings);
    for (ChunkEntry chunk : rows.chunks) {
      chunk.file = number;
      added.push_back(chunk);
    }
    if (rows.was_opened_again) news.opened_again.push_back(number);
    news.any = news.any || !rows.strings.empty() || all[i].opened;
    const std::unique_lock lock(mutex_);
    File& file = *files_[i];
    if (all[i].opened) {
      file.file = std::move(all[i].opened);
      file.problems.clear();
    }
    file.problems.insert(rows.problems.begin(), rows.problems.end());
    if (all[i].error) file.problems.insert(all[i].error->message);
  }
  if (added.empty()) return news;
  news.any = true;
  auto list = std::make_shared<std::vector<ChunkEntry>>(*this->list());
  const auto middle = static_cast<std::ptrdiff_t>(list->size());
  std::ranges::sort(added, {}, place_of);
  list->insert(list->end(), added.begin(), added.end());
  std::ranges::inplace_merge(*list, list->begin() + middle, {}, place_of);
  const std::unique_lock lock(mutex_);
  list_ = std::move(list);
  return news;
}

RunChunks::News RunChunks::refresh() {
  const std::lock_guard one_at_a_time(refreshing_);
  if (is_folder_) find_files();
  return take(read_news(1));
}

std::shared_ptr<const std::vector<ChunkEntry>> RunChunks::list() const {
  const std::shared_lock lock(mutex_);
  return list_;
}

ChunkFile& RunChunks::file_of(const ChunkEntry& chunk) const {
  const std::shared_lock lock(mutex_);
  return *files_[static_cast<std::size_t>(chunk.file)]->file;
}

std::string RunChunks::problem() const {
  const std::shared_lock lock(mutex_);
  std::string text;
  for (const auto& file : files_) {
    for (const std::string& problem : file->problems) text += (text.empty() ? "" : "\n") + problem;
  }
  return text;
}

}  // namespace shardlens::trace::store
