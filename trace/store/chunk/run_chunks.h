// The chunks and names of all files of a run, as far as they were committed. Any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/chunk/chunk_entry.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/chunk/global_names.h"
#include "trace/store/chunk/idle_connections.h"

namespace shardlens::trace::store {

class RunChunks {
 public:
  // `run`: a run's folder or a packed file. A file that cannot be opened is a problem, and an error
  // where it is the only one.
  static base::Result<std::unique_ptr<RunChunks>> open(const std::filesystem::path& run,
                                                       int threads);

  // By rank, lane, kind and first_ns.
  std::shared_ptr<const std::vector<ChunkEntry>> list() const;
  // What was committed since, in files that are there and in those that came.
  struct News {
    bool any = false;
    std::vector<int> opened_again;  // files whose failures may be over
  };
  News refresh();

  // Lives as long as this.
  ChunkFile& file_of(const ChunkEntry& chunk) const;
  const GlobalNames& names() const { return names_; }
  std::string problem() const;

 private:
  struct File {
    std::filesystem::path path;
    std::unique_ptr<ChunkFile> file;  // none: it could not be opened
    std::set<std::string> problems;
  };
  struct FileNews {
    std::unique_ptr<ChunkFile> opened;
    std::optional<base::Error> error;
    ChunkFile::News rows;
  };
  explicit RunChunks(std::filesystem::path run);
  // Side by side, of all files.
  std::vector<FileNews> read_news(int threads);
  void find_files();
  News take(std::vector<FileNews> news);

  const std::filesystem::path run_;
  bool is_folder_ = false;
  GlobalNames names_;
  const std::shared_ptr<IdleConnections> idle_;
  std::mutex refreshing_;
  mutable std::shared_mutex mutex_;           // of what follows
  std::vector<std::unique_ptr<File>> files_;  // never fewer
  std::shared_ptr<const std::vector<ChunkEntry>> list_;
};

}  // namespace shardlens::trace::store
