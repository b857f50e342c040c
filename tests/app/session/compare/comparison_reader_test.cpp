#include "app/session/compare/comparison_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

class RunSiblings : public testing::Test {
 protected:
  // A minute later than the one before.
  fs::path write(const std::string& name, double cap) {
    SyntheticOptions options;
    options.name = name;
    options.start_ns += 60'000'000'000 * ++written_;
    options.settings.bucket_cap_mb = cap;
    return finished_run(folder_.path(), options, 12);
  }
  // Sorted, of the siblings of both.
  std::vector<std::string> names(const fs::path& a, const fs::path& b) {
    const auto first = read_run_figures(a), second = read_run_figures(b);
    EXPECT_TRUE(first && second);
    std::vector<std::string> names;
    for (const auto& run : siblings_of(*first, *second, folder_.path())) {
      names.push_back(run.info.name);
    }
    std::ranges::sort(names);
    return names;
  }

  TemporaryFolder folder_;
  std::int64_t written_ = 0;
};

TEST_F(RunSiblings, AreReadWhetherTheLibraryKeptThemOrNot) {
  const auto a = write("a", 1), b = write("b", 4);
  write("as a", 1);
  write("as b", 4);
  write("like none", 25);
  const std::vector<std::string> all = {"as a", "as b", "like none"};
  EXPECT_EQ(names(a, b), all) << "nothing is kept";
  EXPECT_EQ(names(a, b), all) << "all of it is kept";
}

TEST_F(RunSiblings, OfTwoThatCameWithTheProgramCameAlong) {
  const auto a = write("a", 1), b = write("b", 4);
  write("as a", 1);
  TemporaryFolder library;
  SyntheticOptions options;
  options.name = "own";
  options.settings.bucket_cap_mb = 1;
  const auto own = finished_run(library.path(), options, 12);
  const auto first = read_run_figures(a), second = read_run_figures(b),
             of_own = read_run_figures(own);
  ASSERT_TRUE(first && second && of_own);
  const auto names_of = [&](const auto& other) {
    std::vector<std::string> names;
    for (const auto& run : siblings_of(*first, other, library.path(), folder_.path())) {
      names.push_back(run.info.name);
    }
    return names;
  };
  EXPECT_EQ(names_of(*second), std::vector<std::string>{"as a"});
  EXPECT_EQ(names_of(*of_own), std::vector<std::string>{}) << "the library has no other run";
}

TEST_F(RunSiblings, ReadThoseFirstThatDidTheSame) {
  const auto a = write("a", 1), b = write("b", 4);
  for (int i = 0; i < 18; ++i) write("alike " + std::to_string(10 + i), i % 2 == 0 ? 1 : 4);
  write("like none", 25);
  const auto found = names(a, b);
  ASSERT_EQ(found.size(), 17u);
  EXPECT_EQ(found.front(), "alike 12") << "the newest sixteen";
  EXPECT_EQ(found.back(), "like none");
}

}  // namespace
}  // namespace shardlens::app::session
