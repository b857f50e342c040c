// Values of one build of this program as bytes, for files that nobody else reads. One thread at a
// time.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace shardlens::trace::store {

// As they lie in memory.
class KeptWriter {
 public:
  template <typename Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename List, typename Each>
  void list(const List& list, Each&& each) {
    value(list.size());
    for (const auto& item : list) each(item);
  }
  // Lists of plain values, and texts, at one go.
  template <typename List>
  void plain(const List& list) {
    static_assert(std::is_trivially_copyable_v<typename List::value_type>);
    value(list.size());
    if (list.empty()) return;
    bytes_.append(reinterpret_cast<const char*>(list.data()),
                  list.size() * sizeof(typename List::value_type));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// The same calls in the same order; what is cut short leaves the rest as it was.
class KeptReader {
 public:
  explicit KeptReader(std::string_view bytes) : rest_(bytes) {}
  template <typename Value>
  void value(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if constexpr (std::is_same_v<Value, bool>) return truth(value);
    is_whole_ = is_whole_ && rest_.size() >= sizeof(value);
    if (!is_whole_) return;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
  }
  template <typename List, typename Each>
  void list(List& list, Each&& each) {
    auto count = list.size();
    value(count);
    is_whole_ = is_whole_ && count <= rest_.size();
    if (!is_whole_) return;
    list.clear();
    // A count alone is no reason to ask for memory: an item in it may be hundreds of times larger
    // than the bytes that it needs at least.
    while (is_whole_ && list.size() < count) {
      list.push_back({});
      each(list.back());
    }
  }
  template <typename List>
  void plain(List& list) {
    using Item = typename List::value_type;
    static_assert(std::is_trivially_copyable_v<Item>);
    auto count = list.size();
    value(count);
    is_whole_ = is_whole_ && count <= rest_.size() / sizeof(Item);
    if (!is_whole_) return;
    list.resize(count);
    if (count == 0) return;
    std::memcpy(list.data(), rest_.data(), count * sizeof(Item));
    rest_.remove_prefix(count * sizeof(Item));
  }
  bool has_all() const { return is_whole_ && rest_.empty(); }

 private:
  // A program may not even look at a bool that is another byte.
  void truth(bool& is_true) {
    unsigned char byte = is_true;
    value(byte);
    is_whole_ = is_whole_ && byte <= 1;
    if (is_whole_) is_true = byte == 1;
  }

  std::string_view rest_;
  bool is_whole_ = true;
};

// Of each member what it is: a plain value, a text, a list of such.
template <typename Cache, typename... Members>
void each_value(Cache& cache, Members&... members) {
  const auto one = [&](auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_trivially_copyable_v<Member>) {
      cache.value(member);
    } else if constexpr (std::is_trivially_copyable_v<typename Member::value_type>) {
      cache.plain(member);
    } else {
      cache.list(member, [&](auto& item) { each_value(cache, item); });
    }
  };
  (one(members), ...);
}

}  // namespace shardlens::trace::store
