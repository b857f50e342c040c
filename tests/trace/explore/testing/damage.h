// Damages a run as disks, networks, killed programs and foreign tools do, and as nobody would
// expect. The same for the same number. For the test's thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace shardlens::trace::test {

// What a case did, and what it must have left alone.
struct Damage {
  std::string what;
  // The other rank's file was not touched: every one of its events must be there.
  bool spares_rank_0 = false;
  // Chunks whose row or data was changed; −1: any.
  int changed_chunks = -1;
};

class RandomDamage {
 public:
  explicit RandomDamage(std::uint64_t number) : state_(number * 0x2545f4914f6cdd1d + 1) {}

  // `run`: a copy of a folder with rank_0.sqlite and rank_1.sqlite, or of a packed file.
  Damage apply(const std::filesystem::path& run);

 private:
  std::uint64_t random();
  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
  std::int64_t absurd_number();
  std::string absurd_text();

  Damage damage_bytes(const std::filesystem::path& file);
  Damage damage_rows(const std::filesystem::path& file);
  std::string change_bytes(std::string& bytes);
  std::string change_pages(std::string& bytes);
  std::string leave_journal(const std::filesystem::path& file);
  std::string change_value();
  std::string change_header();
  std::string drop_rows();
  std::string change_strings();
  std::string change_tables();
  Damage change_chunk(const std::filesystem::path& file);

  std::uint64_t state_;
};

}  // namespace shardlens::trace::test
