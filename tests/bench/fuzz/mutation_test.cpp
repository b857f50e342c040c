#include "bench/fuzz/mutation.h"

#include <gtest/gtest.h>

#include <set>

namespace shardlens::bench {
namespace {

constexpr std::string_view kJson =
    R"({"a": [1, 2.5, {"b": "text \" {"}], "c": null, "d": {"e": -1}})";

TEST(Mutation, IsTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(Mutation(seed).json(std::string(kJson)), Mutation(seed).json(std::string(kJson)));
    EXPECT_EQ(Mutation(seed).yaml("a: 1\nb: 2\n"), Mutation(seed).yaml("a: 1\nb: 2\n"));
    EXPECT_EQ(Mutation(seed).bytes("some bytes"), Mutation(seed).bytes("some bytes"));
  }
}

TEST(Mutation, IsAnotherOneForMostSeeds) {
  std::set<std::string> different;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    different.insert(Mutation(seed).json(std::string(kJson)));
  }
  EXPECT_GT(different.size(), 450u);
}

TEST(Mutation, ChoosesWhatBytesSay) {
  using namespace std::string_literals;
  const std::string choices = "\x07\x01\x02"s;
  Mutation mutation(choices);
  EXPECT_EQ(mutation.below(10), 7u);
  EXPECT_EQ(mutation.below(1), 0u);  // which takes none of them
  EXPECT_EQ(mutation.below(1000), 0x102u);
}

TEST(Mutation, GoesOnAlikeBehindTheBytes) {
  const std::string choices = "\x01\x02";
  EXPECT_EQ(Mutation(choices).json(std::string(kJson)), Mutation(choices).json(std::string(kJson)));
  EXPECT_NE(Mutation(choices).json(std::string(kJson)), kJson);
}

TEST(Mutation, OfNothingHasBounds) {
  constexpr std::size_t kMost = 2 << 20;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Mutation mutation(seed);
    EXPECT_LT(mutation.json("").size(), kMost);
    EXPECT_LT(mutation.yaml("").size(), kMost);
    EXPECT_LT(mutation.bytes("").size(), kMost);
    EXPECT_LT(mutation.json("}").size(), kMost);
    EXPECT_LT(mutation.json("\"\\").size(), kMost);
  }
}

}  // namespace
}  // namespace shardlens::bench
