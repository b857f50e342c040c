#include "trainer/text/label_names.h"

#include <simdjson.h>

#include <algorithm>

#include "trainer/text/byte_reader.h"

namespace shardlens::trainer::text {

namespace {

constexpr std::int64_t kMostClasses = 65536;

bool is_default_name(const std::pair<const std::string, std::int64_t>& entry) {
  return entry.first == "LABEL_" + std::to_string(entry.second);
}

}  // namespace

trace::base::Result<std::map<std::string, std::int64_t>> read_label_numbers(
    const std::filesystem::path& model_folder) {
  const auto file = model_folder / "config.json";
  TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
  TRY_ASSIGN(const std::string text, reader.read_rest());
  const auto damaged = [&](std::string_view what) {
    return trace::base::fail(
        trace::base::ErrorKind::kDamaged,
        "The model's \"" + file.string() + "\" " + std::string(what) + ". Save the model again.");
  };
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return damaged("is not JSON");
  std::map<std::string, std::int64_t> numbers;
  simdjson::dom::object map;
  if (root["label2id"].get(map) != simdjson::SUCCESS) return numbers;
  for (const auto& [name, value] : map) {
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS || number < 0 || number >= kMostClasses) {
      return damaged("has a label2id whose numbers are no classes");
    }
    numbers.emplace(name, number);
  }
  if (std::ranges::all_of(numbers, is_default_name)) numbers.clear();
  return numbers;
}

}  // namespace shardlens::trainer::text
