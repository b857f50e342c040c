// A small run with rows of every table, copies of it that are damaged, and everything that reads
// runs let loose on them. For the test's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "tests/trace/explore/testing/damage.h"
#include "tests/trace/store/testing/store_fixture.h"

namespace shardlens::trace::test {

class DamagedRuns {
 public:
  DamagedRuns();

  // Damages a copy and reads it: no crash, no hang, no memory without limit, and what is intact is
  // there. Failures of the test name the number. The window's own reader takes as long as all the
  // others together.
  enum class Readers : std::uint8_t { kAll, kAllButExplorer };
  void check(std::uint64_t number, Readers readers);

 private:
  void copy_run(bool packed);
  void check_events(const Damage& damage);
  void check_explorer();
  void check_reader();
  void check_query(std::uint64_t number);
  void check_verify(const Damage& damage);

  Folder folder_;
  std::filesystem::path run_, packed_, copy_;
  std::int64_t chunks_ = 0;
  std::map<int, std::int64_t> chunks_of_rank_, events_of_rank_;
};

// The largest piece of memory asked for at once since the last call; the program's own `new` only.
std::size_t take_largest_allocation();

}  // namespace shardlens::trace::test
