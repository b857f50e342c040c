// Reading a tokenizer's JSON with errors that name the place. Any thread.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"
#include "trainer/tokenizer/tokenizer.h"

namespace shardlens::trainer {

// A value and where it stands ("normalizer.normalizers[2]"). Refers to a parsed document.
class Definition {
 public:
  Definition(simdjson::dom::element value, std::string place)
      : value_(value), place_(std::move(place)) {}

  const std::string& place() const { return place_; }
  bool is_object() const { return value_.is_object(); }
  bool is_array() const { return value_.is_array(); }

  // Absent and null are the same: not there.
  std::optional<Definition> find(std::string_view name) const;
  trace::Result<Definition> at(std::string_view name) const;
  trace::Result<std::vector<Definition>> items() const;

  trace::Result<std::string_view> text() const;
  trace::Result<bool> flag() const;
  trace::Result<double> number() const;
  trace::Result<std::uint64_t> count() const;
  trace::Result<TokenId> id() const;          // 0 to 2^31 - 1
  trace::Result<char32_t> character() const;  // a text of one

  trace::Result<std::string_view> text(std::string_view name) const;
  trace::Result<bool> flag(std::string_view name) const;
  trace::Result<bool> flag_or(std::string_view name, bool otherwise) const;
  trace::Result<std::string> text_or(std::string_view name, std::string otherwise) const;

  // kDamaged, with the place in front.
  tl::unexpected<trace::Error> error(const std::string& problem) const;

  simdjson::dom::element value() const { return value_; }

 private:
  simdjson::dom::element value_;
  std::string place_;
};

// The name in "type", and an error that names those that are supported if it is not among them.
trace::Result<std::string_view> type_of(const Definition& definition, std::string_view what,
                                        std::initializer_list<std::string_view> supported);

}  // namespace shardlens::trainer
