// `loop` within a {% for %}. One thread.
#pragma once

#include <algorithm>

#include "trainer/chat/object.h"

namespace shardlens::trainer::chat {

class LoopState final : public Object {
 public:
  explicit LoopState(Items items);

  void move_to(std::int64_t index) { index_ = index; }
  const Value& item() const { return items_[static_cast<std::size_t>(index_)]; }

  std::string type_name() const override { return "LoopContext"; }
  std::string representation() const override;
  int depth() const override { return depth_; }
  std::optional<std::int64_t> length() const override { return count(); }
  std::optional<Value> attribute(std::string_view name) const override;

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(items_.size()); }
  Value neighbour(std::int64_t index, const char* missing) const;
  Value cycle() const;
  Value changed() const;

  Items items_;
  std::int64_t index_ = 0;
  int depth_ = 1;
  // What loop.changed() was last asked about.
  std::shared_ptr<Value> last_asked_;
};

}  // namespace shardlens::trainer::chat
