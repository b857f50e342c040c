// Integers as differences from the least one, in as few bytes each as all of them allow: 0, 1, 2, 4
// or 8. Any thread once made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace shardlens::trace::store {

class PackedColumn {
 public:
  PackedColumn() = default;

  // get(i) for i < count gives the values.
  template <typename Get>
  PackedColumn(std::size_t count, Get&& get) {
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t value = get(i);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    fill_between(count, least, most, get);
  }
  // For who knows the least and the greatest of them.
  template <typename Get>
  PackedColumn(std::size_t count, std::int64_t least, std::int64_t most, Get&& get) {
    fill_between(count, least, most, get);
  }

  std::int64_t at(std::size_t i) const {
    switch (width_) {
      case 0:
        return base_;
      case 1:
        return sum(word<std::uint8_t>(i));
      case 2:
        return sum(word<std::uint16_t>(i));
      case 4:
        return sum(word<std::uint32_t>(i));
      default:
        return sum(word<std::uint64_t>(i));
    }
  }
  // The values from `first` on; `Value` must hold them, or wraps around.
  template <typename Value>
  void copy_to(std::size_t first, std::span<Value> values) const {
    switch (width_) {
      case 0:
        std::ranges::fill(values, static_cast<Value>(base_));
        break;
      case 1:
        copy<std::uint8_t>(first, values);
        break;
      case 2:
        copy<std::uint16_t>(first, values);
        break;
      case 4:
        copy<std::uint32_t>(first, values);
        break;
      default:
        copy<std::uint64_t>(first, values);
    }
  }
  std::int64_t least() const { return base_; }
  std::size_t bytes() const { return words_.capacity(); }  // beside the object itself

 private:
  template <typename Get>
  void fill_between(std::size_t count, std::int64_t least, std::int64_t most, Get&& get) {
    if (count == 0) return;
    base_ = least;
    const auto range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    if (range == 0) return;
    if (range <= UINT8_MAX) {
      fill<std::uint8_t>(count, get);
    } else if (range <= UINT16_MAX) {
      fill<std::uint16_t>(count, get);
    } else if (range <= UINT32_MAX) {
      fill<std::uint32_t>(count, get);
    } else {
      fill<std::uint64_t>(count, get);
    }
  }
  template <typename Word, typename Get>
  void fill(std::size_t count, Get&& get) {
    width_ = sizeof(Word);
    words_.resize(count * sizeof(Word));
    std::byte* to = words_.data();
    for (std::size_t i = 0; i < count; ++i, to += sizeof(Word)) {
      const auto difference =
          static_cast<Word>(static_cast<std::uint64_t>(get(i)) - static_cast<std::uint64_t>(base_));
      std::memcpy(to, &difference, sizeof(Word));
    }
  }
  template <typename Word, typename Value>
  void copy(std::size_t first, std::span<Value> values) const {
    constexpr std::size_t kTogether = 16;  // a count that compilers make vector instructions of
    const auto base = static_cast<Value>(base_);  // which `values` cannot be taken to change
    std::size_t i = 0;
    for (; i + kTogether <= values.size(); i += kTogether) {
      std::array<Word, kTogether> words;
      std::memcpy(words.data(), words_.data() + (first + i) * sizeof(Word), sizeof words);
      for (std::size_t j = 0; j < kTogether; ++j) {
        values[i + j] = wrapped_sum(base, static_cast<Value>(words[j]));
      }
    }
    for (; i < values.size(); ++i) {
      values[i] = wrapped_sum(base, static_cast<Value>(word<Word>(first + i)));
    }
  }
  template <typename Word>
  std::uint64_t word(std::size_t i) const {
    Word word;
    std::memcpy(&word, words_.data() + i * sizeof(Word), sizeof(Word));
    return word;
  }
  template <typename Value>
  static Value wrapped_sum(Value a, Value b) {
    using Unsigned = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  }
  std::int64_t sum(std::uint64_t difference) const {
    return wrapped_sum(base_, static_cast<std::int64_t>(difference));
  }

  std::int64_t base_ = 0;
  std::size_t width_ = 0;  // bytes
  std::vector<std::byte> words_;
};

}  // namespace shardlens::trace::store
