#include <algorithm>
#include <memory>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

// The items of a value one by one. What cannot be iterated over fails at the first, as in Python.
class ItemSource {
 public:
  explicit ItemSource(Value value) : value_(std::move(value)) {}

  Result<std::optional<Value>> next(Interpreter& interpreter) {
    if (is_iterator(value_)) return value_.as_object().next(interpreter);
    if (!begun_) {
      TRY_ASSIGN(items_, interpreter.iterate(value_));
      begun_ = true;
    }
    if (at_ == items_.size()) return std::nullopt;
    return items_[at_++];
  }

  // All at once, in place of next().
  Result<Items> all(Interpreter& interpreter) const { return interpreter.iterate(value_); }

 private:
  Value value_;
  Items items_;
  std::size_t at_ = 0;
  bool begun_ = false;
};

using NextItem = Result<std::optional<Value>>;

// A generator of values nested no more than `depth`; each is what `next(interpreter, source)` makes
// of the items of `input`.
template <typename Next>
Result<Value> lazily(Interpreter& interpreter, const Value& input, int depth, Next next) {
  const auto source = std::make_shared<ItemSource>(input);
  return interpreter.budget().object(std::make_shared<Generator>(
      "generator", [source, next](Interpreter& running) mutable { return next(running, *source); },
      depth));
}

// As `if value:` of Jinja before it looks at items: whatever is false has none.
Value or_nothing(const Value& input) { return truth(input) ? input : Value::tuple({}); }

int depth_of(const Value& input, const Arguments& arguments) {
  int depth = input.depth();
  for (const Value& value : arguments.positional) depth = std::max(depth, value.depth());
  for (const auto& [name, value] : arguments.named) depth = std::max(depth, value.depth());
  return depth + 1;
}

Result<Value> without_first(Arguments& arguments, const char* what) {
  if (arguments.positional.empty()) return fail(ErrorKind::kDamaged, what);
  Value value = std::move(arguments.positional.front());
  arguments.positional.erase(arguments.positional.begin());
  return value;
}

// map(attribute=…, default=…)
Result<Value> mapped_attribute(Interpreter& interpreter, const Value& item,
                               const Arguments& arguments) {
  const Value* path = nullptr;
  const Value* fallback = nullptr;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") {
      path = &value;
    } else if (name == "default") {
      fallback = value.is_none() ? nullptr : &value;
    } else {
      return fail(ErrorKind::kDamaged, "map does not take the argument '" + name + "'");
    }
  }
  return attribute_by_path(interpreter, item, *path, fallback);
}

Result<Value> mapped(Interpreter& interpreter, const Value& item, Arguments arguments) {
  const bool by_attribute =
      arguments.positional.empty() &&
      std::any_of(arguments.named.begin(), arguments.named.end(),
                  [](const auto& given) { return given.first == "attribute"; });
  if (by_attribute) return mapped_attribute(interpreter, item, arguments);
  TRY_ASSIGN(const Value name, without_first(arguments, "map needs the name of a filter"));
  if (!name.is_text()) return fail(ErrorKind::kDamaged, "the name of a filter is no text");
  return interpreter.apply_filter(name.as_text(), item, std::move(arguments));
}

Result<Value> map_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const int depth = depth_of(input, arguments);
  return lazily(interpreter, or_nothing(input), depth,
                [arguments](Interpreter& running, ItemSource& source) -> NextItem {
                  TRY_ASSIGN(const auto item, source.next(running));
                  if (!item) return std::nullopt;
                  TRY_ASSIGN(Value value, mapped(running, *item, arguments));
                  return value;
                });
}

// Whether an item passes the test that the arguments of select and its kin name.
Result<bool> passes(Interpreter& interpreter, const Value& item, Arguments arguments,
                    bool by_attribute) {
  Value tested = item;
  if (by_attribute) {
    TRY_ASSIGN(const Value path, without_first(arguments, "the name of an attribute is missing"));
    TRY_ASSIGN(tested, attribute_by_path(interpreter, item, path));
  }
  if (arguments.positional.empty()) return truth(tested);
  TRY_ASSIGN(const Value name, without_first(arguments, ""));
  if (!name.is_text()) return fail(ErrorKind::kDamaged, "the name of a test is no text");
  return interpreter.apply_test(name.as_text(), tested, std::move(arguments));
}

template <bool kWanted, bool kByAttribute>
Result<Value> select(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const int depth = depth_of(input, arguments);
  return lazily(interpreter, or_nothing(input), depth,
                [arguments](Interpreter& running, ItemSource& source) -> NextItem {
                  while (true) {
                    TRY_ASSIGN(auto item, source.next(running));
                    if (!item) return std::nullopt;
                    TRY_ASSIGN(const bool passed, passes(running, *item, arguments, kByAttribute));
                    if (passed == kWanted) return item;
                  }
                });
}

// The items whose keys were not there before.
class Unseen {
 public:
  Unseen(bool case_sensitive, Value path)
      : case_sensitive_(case_sensitive), path_(std::move(path)) {}

  NextItem operator()(Interpreter& interpreter, ItemSource& source) {
    while (true) {
      TRY_ASSIGN(auto item, source.next(interpreter));
      if (!item) return std::nullopt;
      TRY_ASSIGN(const bool added, add(interpreter, *item));
      if (added) return item;
    }
  }

 private:
  Result<bool> add(Interpreter& interpreter, const Value& item) {
    TRY_ASSIGN(const Value value, attribute_by_path(interpreter, item, path_));
    TRY_ASSIGN(Value key, comparison_key(interpreter, value, case_sensitive_));
    TRY(check_hashable(key));
    for (const Value& other : seen_) {
      TRY_ASSIGN(const bool same, equal(interpreter.budget(), other, key));
      if (same) return false;
    }
    seen_.push_back(std::move(key));
    return true;
  }

  bool case_sensitive_;
  Value path_;
  Items seen_;
};

Result<Value> unique(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const int depth = depth_of(input, arguments) + 1;
  TRY_ASSIGN(const auto bound,
             bind_arguments(std::move(arguments), {"case_sensitive", "attribute"}, 0));
  return lazily(interpreter, input, depth,
                Unseen(bound[0] && truth(*bound[0]), bound[1].value_or(Value())));
}

Result<Value> items_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  const auto next = [input, at = std::size_t{0}](Interpreter&, ItemSource&) mutable -> NextItem {
    if (input.is_undefined()) return std::nullopt;
    if (!input.is_dict()) return fail(ErrorKind::kDamaged, "items needs a dict");
    if (at == input.entries().size()) return std::nullopt;
    const Entry& entry = input.entries()[at++];
    return Value::tuple({entry.key, entry.value});
  };
  return lazily(interpreter, input, input.depth() + 2, next);
}

Result<Value> batch(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const int depth = depth_of(input, arguments) + 1;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"linecount", "fill_with"}, 1));
  const auto next = [count = *bound[0], fill = bound[1].value_or(Value())](
                        Interpreter& running, ItemSource& source) -> NextItem {
    if (!count.is_whole() || count.as_integer() < 1) {
      return fail(ErrorKind::kDamaged, "batch needs a number of items of 1 or more");
    }
    Items line;
    while (static_cast<std::int64_t>(line.size()) < count.as_integer()) {
      TRY_ASSIGN(auto item, source.next(running));
      if (!item) break;
      line.push_back(std::move(*item));
    }
    if (line.empty()) return std::nullopt;
    while (!fill.is_none() && static_cast<std::int64_t>(line.size()) < count.as_integer()) {
      TRY(running.budget().spend_items(1));
      line.push_back(fill);
    }
    TRY_ASSIGN(Value list, running.budget().list(std::move(line)));
    return list;
  };
  return lazily(interpreter, input, depth, next);
}

// Cuts all items into `slices` parts, the first of which may be longer by one.
class Slices {
 public:
  Slices(Value slices, Value fill) : slices_(std::move(slices)), fill_(std::move(fill)) {}

  NextItem operator()(Interpreter& interpreter, ItemSource& source) {
    if (!slices_.is_whole() || slices_.as_integer() == 0) {
      return fail(ErrorKind::kDamaged, "slice needs a number of slices");
    }
    if (at_ == 0) {
      TRY_ASSIGN(all_, source.all(interpreter));
    }
    if (at_ >= slices_.as_integer()) return std::nullopt;
    const auto size = static_cast<std::int64_t>(all_.size());
    const std::int64_t each = size / slices_.as_integer();
    const std::int64_t longer = size % slices_.as_integer();
    const std::int64_t begin = at_ * each + std::min(at_, longer);
    const std::int64_t end = begin + each + (at_ < longer ? 1 : 0);
    Items part(all_.begin() + begin, all_.begin() + end);
    if (!fill_.is_none() && at_ >= longer) part.push_back(fill_);
    ++at_;
    TRY_ASSIGN(Value list, interpreter.budget().list(std::move(part)));
    return list;
  }

 private:
  Value slices_, fill_;
  Items all_;
  std::int64_t at_ = 0;
};

Result<Value> slice(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const int depth = depth_of(input, arguments) + 1;
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"slices", "fill_with"}, 1));
  return lazily(interpreter, input, depth, Slices(*bound[0], bound[1].value_or(Value())));
}

constexpr Filter kFilters[] = {
    {"map", map_filter},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
    {"unique", unique},
    {"items", items_filter},
    {"batch", batch},
    {"slice", slice},
};

}  // namespace

std::span<const Filter> lazy_filters() { return kFilters; }

}  // namespace shardlens::trainer::chat
