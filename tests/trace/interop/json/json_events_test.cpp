#include "trace/interop/json/json_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "trace/base/file_system.h"

namespace shardlens::trace::interop {
namespace {

class JsonEventsTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text, bool packed = false) {
    const auto file = folder_->path() / (packed ? "trace.json.gz" : "trace.json");
    if (packed) {
      gzFile out = gzopen(file.c_str(), "wb");
      gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
      gzclose(out);
    } else {
      std::ofstream(file) << text;
    }
    return file;
  }

  struct Read {
    std::vector<std::string> events;
    std::vector<std::pair<std::string, std::string>> members;
    bool cut_off = false;
    std::optional<base::Error> error;
  };
  static Read read(const std::filesystem::path& file) {
    Read result;
    auto input = JsonEvents::open(file);
    if (!input) {
      result.error = input.error();
      return result;
    }
    for (;;) {
      const auto piece = input->next();
      if (!piece) {
        result.error = piece.error();
        return result;
      }
      if (!*piece) break;
      if ((*piece)->is_event) {
        result.events.emplace_back((*piece)->text);
      } else {
        result.members.emplace_back((*piece)->key, (*piece)->text);
      }
    }
    result.cut_off = input->was_cut_off();
    return result;
  }

  base::Result<base::TemporaryFolder> folder_ = base::TemporaryFolder::create();
};

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST_F(JsonEventsTest, GivesEventsAndMembersInTheirOrder) {
  const auto all = read(write(R"({"a": 1, "traceEvents": [ {"x": {"y": [1, 2]}} ,
    {"name": "}]\"{"}], "b": [{"c": "]"}], "d": "e" })"));
  EXPECT_FALSE(all.error) << all.error->message;
  EXPECT_THAT(all.events, ElementsAre(R"({"x": {"y": [1, 2]}})", R"({"name": "}]\"{"})"));
  EXPECT_THAT(all.members,
              ElementsAre(Pair("a", "1"), Pair("b", R"([{"c": "]"}])"), Pair("d", "\"e\"")));
  EXPECT_FALSE(all.cut_off);
}

TEST_F(JsonEventsTest, TakesABareArrayAndAnEmptyList) {
  EXPECT_THAT(read(write(R"([{"a":1},{"b":2}])")).events, ElementsAre("{\"a\":1}", "{\"b\":2}"));
  EXPECT_TRUE(read(write(R"({"traceEvents":[]})")).events.empty());
}

TEST_F(JsonEventsTest, KeepsEventsWholeAcrossItsBufferAndUnpacks) {
  std::string text = R"({"traceEvents":[)";
  std::vector<std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    // Far more than one buffer together; one event alone is larger than it.
    const std::size_t length = i == 1500 ? 9'000'000 : 3000;
    expected.push_back("{\"n\":" + std::to_string(i) + ",\"s\":\"" + std::string(length, 'x') +
                       "\\\"\"}");
    text += (i > 0 ? "," : "") + expected.back();
  }
  text += "]}";
  for (const bool packed : {false, true}) {
    const auto all = read(write(text, packed));
    EXPECT_FALSE(all.error);
    EXPECT_EQ(all.events, expected) << packed;
  }
}

TEST_F(JsonEventsTest, GivesWhatACutOffFileHolds) {
  const std::string text = R"({"traceEvents":[{"a":1},{"b":2},{"c":)";
  for (const bool packed : {false, true}) {
    const auto all = read(write(text, packed));
    EXPECT_EQ(all.events.size(), 2u);
    EXPECT_TRUE(all.cut_off);
  }
  // The compressed stream itself ends early.
  std::string random = "[";
  for (int i = 0; i < 200'000; ++i) random += "{\"v\":" + std::to_string(i * 7919 % 100'003) + "},";
  const auto file = write(random, true);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const auto half = read(file);
  EXPECT_FALSE(half.error) << half.error->message;
  EXPECT_TRUE(half.cut_off);
  EXPECT_GT(half.events.size(), 50'000u);
}

TEST_F(JsonEventsTest, RefusesWhatIsNoTrace) {
  EXPECT_EQ(read(write("hello")).error->kind, base::ErrorKind::kForeign);
  EXPECT_EQ(read(write("{hello}")).error->kind, base::ErrorKind::kForeign);
  EXPECT_EQ(read(write("[1, 2]")).error->kind, base::ErrorKind::kForeign);
  const auto later = read(write(R"([{"a":1}, 7])")).error;
  EXPECT_EQ(later->kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(later->message, HasSubstr("after 1 events"));
  EXPECT_EQ(read("/nowhere/trace.json").error->kind, base::ErrorKind::kMissing);
  EXPECT_EQ(read(folder_->path()).error->kind, base::ErrorKind::kUsage);
  const auto file = write("[{\"a\":1}]", true);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(12)
      .write("\xff\xff", 2);
  EXPECT_TRUE(read(file).error || read(file).events.empty());
}

}  // namespace
}  // namespace shardlens::trace::interop
