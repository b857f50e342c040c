// Checks one open trace file: pages, chunks, counts. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/chunk/chunk_opener.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/upkeep/verify.h"

namespace shardlens::trace::store {

class FileCheck {
 public:
  // `goes_on` is told all the time how many bytes of chunks were read; false ends the check with
  // kFailed.
  FileCheck(std::filesystem::path path, Database& database, VerifyReport& report,
            std::function<bool(std::int64_t)> goes_on);

  // Adds to the report what it finds; fails only if it was stopped.
  base::Result<void> run();

 private:
  void check_pages();
  void check_strings();
  void check_chunks();
  void check_chunk(const Statement& row);
  void check_counts(int rank);
  void check_losses(int rank);
  void check_rows(int rank);
  void check_strays(const std::vector<int>& ranks);
  std::int64_t count_rows(const std::string& table, const std::string& condition);
  void check_run();
  void add(Damage damage);
  void cannot_read(const std::string& what, const base::Error& error);

  const std::filesystem::path path_;
  Database& database_;
  VerifyReport& report_;
  std::function<bool(std::int64_t)> goes_on_;
  std::int64_t bytes_read_ = 0;
  bool stopped_ = false;
  ChunkOpener opener_;
  std::map<int, std::set<model::StringId>> strings_;
  std::map<int, std::int64_t> unnamed_, reversed_;
};

}  // namespace shardlens::trace::store
