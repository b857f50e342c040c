// Integers in four bytes each where they lie close together, else in eight. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shardlens::trace {

class PackedColumn {
 public:
  PackedColumn() = default;

  // get(i) for i < count gives the values.
  template <typename Get>
  PackedColumn(std::size_t count, Get&& get) {
    if (count == 0) return;
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t value = get(i);
      least = std::min(least, value);
      most = std::max(most, value);
    }
    base_ = least;
    const auto range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    if (range > UINT32_MAX) {
      wide_.reserve(count);
      for (std::size_t i = 0; i < count; ++i) wide_.push_back(get(i));
    } else if (range > 0) {
      narrow_.reserve(count);
      for (std::size_t i = 0; i < count; ++i) {
        narrow_.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(get(i)) -
                                                     static_cast<std::uint64_t>(least)));
      }
    }
  }

  std::int64_t at(std::size_t i) const {
    if (!wide_.empty()) return wide_[i];
    return narrow_.empty() ? base_ : base_ + std::int64_t{narrow_[i]};
  }

 private:
  std::int64_t base_ = 0;
  std::vector<std::uint32_t> narrow_;
  std::vector<std::int64_t> wide_;
};

}  // namespace shardlens::trace
