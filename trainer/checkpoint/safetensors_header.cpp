// The strict reader of a safetensors header: a state machine over JSON's tokens, so that nothing is
// built that the format does not know, however the text is nested.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

class HeaderTokens final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return refuse("a fraction"); }
  bool binary(binary_t&) override { return refuse("binary"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::kShape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return refuse("a size too large");
      }
      tensor_.sizes.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::kOffsets && offsets_.size() < 2) {
      offsets_.push_back(value);
      return true;
    }
    return refuse("a number");
  }

  bool string(string_t& text) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::kTensor || key_ != "dtype") return refuse("a text");
    const auto type = data_type_from(text);
    if (!type) return refuse("the type '" + text.substr(0, 20) + "', which is not supported");
    tensor_.type = *type;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kNames;
    } else if (place_ == Place::kNames) {
      const bool metadata = key_ == kMetadataKey;
      place_ = metadata ? Place::kMetadata : Place::kTensor;
      tensor_ = {};
      tensor_.name = name_;
      offsets_.clear();
      fields_.clear();
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool key(string_t& key) override {
    key_ = key;
    if (place_ == Place::kNames) {
      name_ = key;
      return names_.insert(key).second || refuse("the name twice");
    }
    if (place_ == Place::kMetadata) {
      return !header_.metadata.contains(key) || refuse("'" + key.substr(0, 40) + "' twice");
    }
    const bool known = key == "dtype" || key == "shape" || key == "data_offsets";
    if (!known) return refuse("the field '" + key.substr(0, 40) + "'");
    return fields_.insert(key).second || refuse("the field '" + key + "' twice");
  }

  bool end_object() override {
    if (place_ == Place::kNames) {
      place_ = Place::kEnd;
      return true;
    }
    if (place_ == Place::kTensor) {
      if (fields_.size() != 3 || offsets_.size() != 2) return refuse("too few fields");
      if (!take_offsets()) return false;
      header_.tensors.push_back(std::move(tensor_));
    }
    place_ = Place::kNames;
    name_.clear();
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::kTensor && key_ == "shape") {
      place_ = Place::kShape;
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      place_ = Place::kOffsets;
    } else {
      return refuse("a list");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return refuse("no JSON at byte " + std::to_string(position));
  }

  const std::string& problem() const { return problem_; }
  SafetensorsHeader take() { return std::move(header_); }

 private:
  enum class Place { kStart, kNames, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool refuse(const std::string& what) {
    problem_ =
        (name_.empty() ? "" : "tensor '" + name_.substr(0, 200) + "': ") + "its header has " + what;
    return false;
  }

  bool take_offsets() {
    std::uint64_t bytes = static_cast<std::uint64_t>(bytes_of(tensor_.type));
    bool fits = true;
    // A size of 0 makes any other harmless, but only once all were multiplied.
    for (const std::int64_t size : tensor_.sizes) {
      fits = fits && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes);
    }
    if (!fits) return refuse("a shape too large");
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (offsets_[0] > offsets_[1] || offsets_[1] > most) return refuse("offsets out of order");
    if (offsets_[1] - offsets_[0] != bytes) {
      return refuse("a shape of " + std::to_string(bytes) + " bytes and offsets of " +
                    std::to_string(offsets_[1] - offsets_[0]));
    }
    tensor_.begin = static_cast<std::int64_t>(offsets_[0]);
    tensor_.end = static_cast<std::int64_t>(offsets_[1]);
    return true;
  }

  SafetensorsHeader header_;
  Place place_ = Place::kStart;
  std::string key_, name_, problem_;
  TensorEntry tensor_;
  std::vector<std::uint64_t> offsets_;
  std::set<std::string, std::less<>> names_, fields_;
};

// Every byte belongs to exactly one tensor, as the format demands.
Result<void> check_cover(std::span<const TensorEntry> tensors, std::int64_t data_bytes,
                         const std::string& source) {
  std::int64_t at = 0;
  for (const TensorEntry& tensor : tensors) {
    const std::string subject = source + ": tensor '" + tensor.name.substr(0, 200) + "' ";
    if (tensor.end > data_bytes) {
      return fail(ErrorKind::kDamaged, subject + "ends at byte " + std::to_string(tensor.end) +
                                           ", the file has " + std::to_string(data_bytes) +
                                           ": it is cut off");
    }
    if (tensor.begin != at) {
      return fail(ErrorKind::kDamaged,
                  subject + (tensor.begin < at ? "overlaps another one" : "follows a gap"));
    }
    at = tensor.end;
  }
  if (at == data_bytes) return {};
  return fail(ErrorKind::kDamaged, source + " has " + std::to_string(data_bytes - at) +
                                       " bytes that belong to no tensor");
}

}  // namespace

Result<SafetensorsHeader> parse_header(std::string_view json, std::int64_t data_bytes,
                                       const std::string& source) {
  HeaderTokens tokens;
  // The format allows spaces after the header and nothing before it.
  const bool begins = json.starts_with('{');
  if (!begins || !nlohmann::json::sax_parse(json.begin(), json.end(), &tokens)) {
    const std::string problem = begins ? tokens.problem() : "its header is no JSON object";
    return fail(begins ? ErrorKind::kDamaged : ErrorKind::kForeign,
                source + " is damaged or not a safetensors file: " + problem);
  }
  SafetensorsHeader header = tokens.take();
  std::ranges::sort(header.tensors, [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  TRY(check_cover(header.tensors, data_bytes, source));
  return header;
}

}  // namespace shardlens::trainer::checkpoint
