// The numbers under which a library's runs are known, as long as the program looks at them: from
// the library's file, or counted on where that cannot be written. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/session/runs/library_run.h"

namespace shardlens::app::session {

class RunNumbering {
 public:
  explicit RunNumbering(std::filesystem::path runs_dir) : runs_dir_(std::move(runs_dir)) {}

  // Gives every run without a number the next one, by age; one that could not be stored is given
  // anew the next time. Returns what kept one from being stored, "": nothing.
  std::string number(std::vector<const trace::model::RunInfo*> runs);
  std::int64_t number_of(const trace::model::RunInfo& run) const;  // 0: not numbered yet
  std::int64_t next() const { return next_ + std::ssize(provisional_); }

 private:
  using Key = std::pair<std::string, std::int64_t>;  // file name, start
  static Key key_of(const trace::model::RunInfo& run);

  std::filesystem::path runs_dir_;
  std::map<Key, std::int64_t> numbers_, provisional_;  // stored, and not
  std::int64_t next_ = 1;
  bool asked_ = false;
};

}  // namespace shardlens::app::session
