// What pack and export have in common: a file that appears complete or not at all, and progress
// that may end the work. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// Refuses a folder, and a file that is there unless it may be replaced. `example`: a good name.
base::Result<void> check_output(const std::filesystem::path& output, bool overwrite,
                                std::string_view example);

// Asks `go_on` every few milliseconds while statements of `database` run; false ends them with
// kFailed. Forgets it with its end.
class WorkWatch {
 public:
  WorkWatch(Database& database, std::function<bool()> go_on);
  ~WorkWatch();
  WorkWatch(const WorkWatch&) = delete;
  WorkWatch& operator=(const WorkWatch&) = delete;

 private:
  Database& database_;
};

}  // namespace shardlens::trace::store
