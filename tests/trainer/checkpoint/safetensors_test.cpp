#include "trainer/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/files.h"
#include "trace/base/file_system.h"

namespace shardlens::trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using trace::base::ErrorKind;

class Safetensors : public testing::Test {
 protected:
  fs::path path(const std::string& name = "model.safetensors") const {
    return folder_.path() / name;
  }
  fs::path write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  // A file with this header and so many bytes of data.
  fs::path write_json(const std::string& json, std::size_t data_bytes) const {
    std::string length(8, '\0');
    const std::uint64_t size = json.size();
    std::memcpy(length.data(), &size, sizeof(size));
    return write(length + json + std::string(data_bytes, 'x'));
  }
  std::string error_of_json(const std::string& json, std::size_t data_bytes) const {
    const auto file = SafetensorsFile::open(write_json(json, data_bytes));
    return file ? "accepted" : file.error().message;
  }
  std::string sample() const;

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

constexpr std::string_view kQuoted = "quote \" slash \\ line\nend 🚀";

// Three tensors: six floats, none, and three bytes.
std::string Safetensors::sample() const {
  const std::vector<float> floats = {0, 1, 2, 3, 4, 5};
  const std::vector<std::uint8_t> bytes = {7, 8, 9};
  const std::vector<TensorBytes> tensors = {
      {{"h.0.weight", DataType::kF32, {2, 3}}, std::as_bytes(std::span(floats))},
      {{"empty", DataType::kBF16, {0, 4}}, {}},
      {{std::string(kQuoted), DataType::kU8, {3}}, std::as_bytes(std::span(bytes))}};
  const auto written = write_safetensors(path(), tensors, {{"format", "pt"}, {"a\"b", "c\\\t"}});
  EXPECT_TRUE(written) << written.error().message;
  return trace::test::bytes_of(path());
}

TEST_F(Safetensors, ReadsBackWhatItWrote) {
  sample();
  const auto file = SafetensorsFile::open(path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->metadata(), (Metadata{{"format", "pt"}, {"a\"b", "c\\\t"}}));
  ASSERT_EQ(file->tensors().size(), 3u);
  const TensorEntry* const weight = file->find("h.0.weight");
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->sizes, (std::vector<std::int64_t>{2, 3}));
  std::vector<float> part(3);
  ASSERT_TRUE(file->read(*weight, 2, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, (std::vector<float>{2, 3, 4}));
  const TensorEntry* const bytes = file->find(kQuoted);
  ASSERT_TRUE(bytes);
  std::vector<std::uint8_t> all(3);
  ASSERT_TRUE(file->read(*bytes, 0, std::as_writable_bytes(std::span(all))));
  EXPECT_EQ(all, (std::vector<std::uint8_t>{7, 8, 9}));
  EXPECT_EQ(file->find("empty")->numel(), 0);
  EXPECT_FALSE(file->find("h.0.weigh"));
}

TEST_F(Safetensors, AreWrittenTogetherByWhoHasParts) {
  const std::string whole = sample();
  const auto read = SafetensorsFile::open(path());
  ASSERT_TRUE(read) << read.error().message;
  FileLayout layout{"model.safetensors", read->tensors(), read->metadata(), {}};
  layout.encode();
  EXPECT_EQ(layout.bytes(), std::ssize(whole));
  fs::remove(path());
  SafetensorsWriter first(path(), layout), second(path(), layout), third(path(), layout);
  EXPECT_TRUE(third.synchronize());
  EXPECT_FALSE(fs::exists(path())) << "who has nothing to write need not see the disk";
  const std::vector<float> floats = {0, 1, 2, 3, 4, 5};
  const auto bytes = std::as_bytes(std::span(floats));
  const std::vector<std::uint8_t> others = {7, 8, 9};
  const TensorEntry &weight = *std::ranges::find(layout.tensors, "h.0.weight", &TensorEntry::name),
                    &rest = *std::ranges::find(layout.tensors, kQuoted, &TensorEntry::name);
  EXPECT_TRUE(first.write(weight, 2, bytes.subspan(8)));
  EXPECT_TRUE(second.write(weight, 0, bytes.first(8)));
  EXPECT_TRUE(second.write(rest, 0, std::as_bytes(std::span(others))));
  EXPECT_TRUE(first.synchronize());
  EXPECT_TRUE(second.synchronize());
  EXPECT_FALSE(SafetensorsFile::open(path())) << "without its header it is no file of tensors";
  EXPECT_TRUE(third.write_header());
  EXPECT_EQ(trace::test::bytes_of(path()), whole);
}

TEST_F(Safetensors, RefusesToReadElementsThatATensorHasNot) {
  sample();
  const auto file = SafetensorsFile::open(path());
  const TensorEntry& weight = *file->find("h.0.weight");
  std::vector<float> part(3);
  const auto bytes = std::as_writable_bytes(std::span(part));
  EXPECT_FALSE(file->read(weight, 4, bytes));
  EXPECT_FALSE(file->read(weight, -1, bytes));
  EXPECT_FALSE(file->read(weight, 7, {}));
  EXPECT_FALSE(file->read(weight, 0, bytes.first(5)));
  EXPECT_TRUE(file->read(weight, 6, {}));
}

TEST_F(Safetensors, BeginsItsDataAtAMultipleOfEight) {
  const std::string bytes = sample();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + length + 6 * 4 + 3);
}

TEST_F(Safetensors, ReadsFilesOfOtherProgramsWithAndWithoutMetadata) {
  EXPECT_EQ(error_of_json(R"({"a":{"data_offsets":[2,4],"shape":[],"dtype":"F16"},)"
                          R"("b":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}   )",
                          4),
            "accepted");
  EXPECT_EQ(error_of_json("{}", 0), "accepted");
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  const std::string bytes = sample();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto file = SafetensorsFile::open(write(bytes.substr(0, size)));
    ASSERT_FALSE(file) << size;
    EXPECT_THAT(file.error().message, HasSubstr(path().string()));
  }
  const auto longer = SafetensorsFile::open(write(bytes + "x"));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("1 bytes that belong to no tensor"));
}

// Whatever a changed header says, what is read lies within the file.
TEST_F(Safetensors, SurvivesEveryFlippedBitOfItsHeader) {
  const std::string bytes = sample();
  const std::size_t header = bytes.size() - (6 * 4 + 3);
  for (std::size_t bit = 0; bit < header * 8; ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const auto file = SafetensorsFile::open(write(changed));
    if (!file) continue;
    for (const TensorEntry& tensor : file->tensors()) {
      ASSERT_LE(tensor.end, 6 * 4 + 3);
      std::vector<std::byte> data(static_cast<std::size_t>(tensor.end - tensor.begin));
      EXPECT_TRUE(file->read(tensor, 0, data));
    }
  }
}

TEST_F(Safetensors, SurvivesRandomBytes) {
  std::mt19937 random(1);
  const std::string alphabet = R"({}[]":,0123456789 \dtypeshape_offsets"F32)";
  for (int round = 0; round < 2000; ++round) {
    std::string json = "{";
    for (unsigned i = random() % 60; i > 0; --i) json += alphabet[random() % alphabet.size()];
    const auto header = parse_header(json, 8, "it");
    if (header) {
      EXPECT_TRUE(header->tensors.empty() || header->tensors.back().end == 8) << json;
    }
  }
}

TEST_F(Safetensors, RefusesHugeLengthsWithoutAllocatingThem) {
  for (const std::uint64_t length : {std::uint64_t{1} << 62, ~std::uint64_t{0},
                                     std::uint64_t{1} << 63, std::uint64_t{100'000'001}}) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    const auto file = SafetensorsFile::open(write(bytes + "{}"));
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().kind, ErrorKind::kForeign) << file.error().message;
  }
  std::string bytes(8, '\0');
  const std::uint64_t length = 99'999'999;
  std::memcpy(bytes.data(), &length, sizeof(length));
  EXPECT_THAT(SafetensorsFile::open(write(bytes + "{}")).error().message, HasSubstr("cut off"));
}

TEST_F(Safetensors, NamesTheTensorAndWhatIsWrongWithIt) {
  const auto with = [this](const std::string& fields, std::size_t bytes = 4) {
    const std::string message = error_of_json(R"({"h.1.bias":{)" + fields + "}}", bytes);
    EXPECT_THAT(message, AllOf(HasSubstr(path().string()), HasSubstr("'h.1.bias'"))) << fields;
    return message;
  };
  const std::string f32 = R"("dtype":"F32",)";
  EXPECT_THAT(with(R"("dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4])"), HasSubstr("F8_E4M3"));
  EXPECT_THAT(with(f32 + R"("shape":[2],"data_offsets":[0,4])"), HasSubstr("a shape of 8 bytes"));
  EXPECT_THAT(with(f32 + R"("shape":[1],"data_offsets":[4,0])"), HasSubstr("out of order"));
  EXPECT_THAT(with(f32 + R"("shape":[1],"data_offsets":[4,8])"), HasSubstr("cut off"));
  EXPECT_THAT(with(f32 + R"("shape":[1],"data_offsets":[4,8])", 8), HasSubstr("gap"));
  EXPECT_THAT(with(f32 + R"("shape":[4294967296,4294967296],"data_offsets":[0,4])"),
              HasSubstr("too large"));
  EXPECT_THAT(with(f32 + R"("shape":[9223372036854775808],"data_offsets":[0,4])"),
              HasSubstr("too large"));
  EXPECT_THAT(with(f32 + R"("shape":[-1],"data_offsets":[0,4])"), HasSubstr("negative"));
  EXPECT_THAT(with(f32 + R"("shape":[1.0],"data_offsets":[0,4])"), HasSubstr("fraction"));
  EXPECT_THAT(with(f32 + R"("shape":[[1]],"data_offsets":[0,4])"), HasSubstr("a list"));
  EXPECT_THAT(with(f32 + R"("shape":[1],"data_offsets":[0,4,8])"), HasSubstr("a number"));
  EXPECT_THAT(with(f32 + R"("shape":[1],"data_offsets":[0])"), HasSubstr("too few"));
  EXPECT_THAT(with(f32 + R"("shape":[1])"), HasSubstr("too few"));
  EXPECT_THAT(with(f32 + R"("dtype":"F32")"), HasSubstr("twice"));
  EXPECT_THAT(with(R"("dtype":null)"), HasSubstr("null"));
  EXPECT_THAT(with(R"("stride":[1])"), HasSubstr("'stride'"));
}

TEST_F(Safetensors, RefusesNamesTwiceAndOverlaps) {
  const std::string entry = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  EXPECT_THAT(error_of_json("{\"a\":" + entry + ",\"a\":" + entry + "}", 4),
              AllOf(HasSubstr("'a'"), HasSubstr("twice")));
  EXPECT_THAT(error_of_json("{\"a\":" + entry + ",\"b\":" + entry + "}", 4), HasSubstr("overlaps"));
  EXPECT_THAT(error_of_json(R"({"__metadata__":{"x":"1","x":"2"}})", 0), HasSubstr("twice"));
  EXPECT_THAT(error_of_json(R"({"__metadata__":{"x":1}})", 0), HasSubstr("a number"));
}

TEST_F(Safetensors, RefusesWhatIsNoHeader) {
  for (const char* json : {"", "[]", "null", " {}", "{", "{}{}", R"({"a":[]})", R"({"a":"b"})",
                           "{\"\xff\":{}}", R"({"a":{}})"}) {
    EXPECT_NE(error_of_json(json, 0), "accepted") << json;
  }
  EXPECT_NE(error_of_json("{\"a\":" + std::string(1 << 20, '['), 0), "accepted");
}

TEST_F(Safetensors, RefusesForeignFilesFoldersAndPipes) {
  const auto png = SafetensorsFile::open(write("\x89PNG\r\n\x1a\n0000000000000000"));
  EXPECT_EQ(png.error().kind, ErrorKind::kForeign);
  EXPECT_EQ(SafetensorsFile::open(path("absent")).error().kind, ErrorKind::kMissing);
  EXPECT_EQ(SafetensorsFile::open(path().parent_path()).error().kind, ErrorKind::kForeign);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(SafetensorsFile::open(path("pipe")).error().kind, ErrorKind::kForeign);
}

TEST_F(Safetensors, NamesTheTensorOfAFileThatIsCutOffWhileItIsOpen) {
  sample();
  const auto file = SafetensorsFile::open(path());
  fs::resize_file(path(), fs::file_size(path()) - 10);
  std::vector<float> part(6);
  const auto read =
      file->read(*file->find("h.0.weight"), 0, std::as_writable_bytes(std::span(part)));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kDamaged);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("'h.0.weight'"), HasSubstr("cut off")));
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
