#include "trace/store/run/kept_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <iterator>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/base/file_system.h"
#include "trace/store/run/kept_values.h"

namespace shardlens::trace::store {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::Folder;

constexpr const char* kName = "facts.cache";

RunStamp stamp_with(std::uint64_t files) {
  RunStamp stamp;
  stamp.files = files;
  return stamp;
}

TEST(KeptFile, HoldsForTheStateThatItWasKeptAt) {
  const Folder folder;
  EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(1)));
  keep(folder.path(), kName, stamp_with(1), "facts");
  EXPECT_EQ(read_kept(folder.path(), kName, stamp_with(1)), "facts");
  EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(2)));
}

TEST(KeptFile, HoldsOnWithoutBeingWrittenAgain) {
  const Folder folder;
  const std::string content(100'000, 'x');
  keep(folder.path(), kName, stamp_with(1), content);
  const base::FileStamp before = base::stamp_of(folder / kName);
  const std::string bytes = bytes_of(folder / kName);
  keep_on(folder.path(), kName, stamp_with(1), stamp_with(2));
  EXPECT_EQ(read_kept(folder.path(), kName, stamp_with(2)), content);
  EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(1)));
  EXPECT_EQ(base::stamp_of(folder / kName).inode, before.inode);
  EXPECT_EQ(bytes_of(folder / kName).substr(100), bytes.substr(100));
  // Of another state than the one that is there: nothing.
  keep_on(folder.path(), kName, stamp_with(1), stamp_with(3));
  EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(3)));
  EXPECT_TRUE(read_kept(folder.path(), kName, stamp_with(2)));
}

TEST(KeptFile, AnyChangedByteAndAnyLackIsNoticed) {
  const Folder folder;
  keep(folder.path(), kName, stamp_with(1), "facts");
  const std::string good = bytes_of(folder / kName);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    test::write_text(folder / kName, bad);
    EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(1))) << at;
    test::write_text(folder / kName, good.substr(0, at));
    EXPECT_FALSE(read_kept(folder.path(), kName, stamp_with(1))) << "only " << at << " bytes";
  }
  test::write_text(folder / kName, good);
  EXPECT_TRUE(read_kept(folder.path(), kName, stamp_with(1)));
}

TEST(KeptFile, ARunIsLeftAloneTenSecondsAfterItWasWrittenWhateverBecameOfTheClock) {
  const auto is_new = [](std::chrono::seconds age) {
    RunStamp stamp;
    stamp.newest = fs::file_time_type::clock::now() - age;
    return was_just_written(stamp);
  };
  EXPECT_TRUE(is_new(std::chrono::seconds(0)));
  EXPECT_TRUE(is_new(std::chrono::seconds(5)));
  EXPECT_FALSE(is_new(std::chrono::seconds(11)));
  EXPECT_FALSE(is_new(std::chrono::hours(-1)));
  EXPECT_FALSE(was_just_written(RunStamp{}));
}

TEST(KeptFile, IsNeverWrittenThroughALink) {
  const Folder folder;
  const fs::path run = folder / "run", precious = folder / "precious";
  fs::create_directory(run);
  test::write_text(precious, "precious");
  fs::create_symlink(precious, run / (std::string(kName) + "." + std::to_string(gettid())));
  fs::create_symlink(precious, run / kName);
  keep_on(run, kName, stamp_with(1), stamp_with(2));
  keep(run, kName, stamp_with(1), "facts");
  EXPECT_EQ(bytes_of(precious), "precious");
  EXPECT_EQ(read_kept(run, kName, stamp_with(1)), "facts");
  EXPECT_FALSE(fs::is_symlink(run / kName));

  const fs::path packed = folder / "packed.shardlens", elsewhere = folder / "elsewhere";
  test::write_text(packed, "packed");
  fs::create_directory(elsewhere);
  fs::create_symlink(elsewhere, folder / kKeptFolder);
  keep(packed, kName, stamp_with(1), "facts");
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

// As a record is: far larger in memory than the least of its bytes.
struct LargeItem {
  std::vector<char> text;
  char space[4096] = {};
};

TEST(KeptReader, ATruthIsOneOfTwo) {
  for (const char byte : {'\0', '\1', '\2'}) {
    KeptReader reader(std::string_view(&byte, 1));
    bool is_true = false;
    reader.value(is_true);
    EXPECT_EQ(reader.has_all(), byte != '\2');
    EXPECT_EQ(is_true, byte == '\1');
  }
}

TEST(KeptReader, ACountAsksForNoMoreMemoryThanTheItemsThatAreThere) {
  KeptWriter writer;
  writer.value(std::size_t{900'000});
  const std::string bytes = writer.bytes() + std::string(1'000'000, '\xff');
  KeptReader reader(bytes);
  std::vector<LargeItem> items;
  reader.list(items, [&](LargeItem& item) { reader.plain(item.text); });
  EXPECT_FALSE(reader.has_all());
  EXPECT_LT(items.capacity(), 10u);
}

}  // namespace
}  // namespace shardlens::trace::store
