#include "trainer/chat/loop_state.h"

#include <algorithm>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

LoopState::LoopState(Items items)
    : items_(std::move(items)), last_asked_(std::make_shared<Value>(Value::undefined({}))) {
  for (const Value& item : items_) depth_ = std::max(depth_, item.depth() + 1);
}

std::string LoopState::representation() const {
  return "<LoopContext " + std::to_string(index_ + 1) + "/" + std::to_string(count()) + ">";
}

Value LoopState::neighbour(std::int64_t index, const char* missing) const {
  if (index < 0 || index >= count()) return Value::undefined(missing);
  return items_[static_cast<std::size_t>(index)];
}

Value LoopState::cycle() const {
  const auto body = [index = index_](Interpreter&, Arguments arguments) -> Result<Value> {
    const auto size = static_cast<std::int64_t>(arguments.positional.size());
    if (size == 0) return fail(ErrorKind::kDamaged, "loop.cycle() needs values to choose from");
    return arguments.positional[static_cast<std::size_t>(index % size)];
  };
  return Value::object(std::make_shared<Function>("cycle", body));
}

Value LoopState::changed() const {
  const auto body = [last = last_asked_](Interpreter& interpreter,
                                         Arguments arguments) -> Result<Value> {
    const Value asked = Value::tuple(std::move(arguments.positional));
    TRY_ASSIGN(const bool same, equal(interpreter.budget(), *last, asked));
    *last = asked;
    return Value::boolean(!same);
  };
  return Value::object(std::make_shared<Function>("changed", body));
}

std::optional<Value> LoopState::attribute(std::string_view name) const {
  if (name == "index") return Value::integer(index_ + 1);
  if (name == "index0") return Value::integer(index_);
  if (name == "revindex") return Value::integer(count() - index_);
  if (name == "revindex0") return Value::integer(count() - index_ - 1);
  if (name == "first") return Value::boolean(index_ == 0);
  if (name == "last") return Value::boolean(index_ + 1 == count());
  if (name == "length") return Value::integer(count());
  if (name == "depth") return Value::integer(1);
  if (name == "depth0") return Value::integer(0);
  if (name == "previtem") return neighbour(index_ - 1, "there is no previous item");
  if (name == "nextitem") return neighbour(index_ + 1, "there is no next item");
  if (name == "cycle") return cycle();
  if (name == "changed") return changed();
  return std::nullopt;
}

}  // namespace shardlens::trainer::chat
