// What a chat template computes with: Python's values, as far as templates use them. Values are
// immutable and cheap to copy; what can change (namespaces, iterators) is an Object. One thread at
// a time for a value that holds objects, any thread for plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trace/model/result.h"

namespace shardlens::trainer::chat {

using trace::Error;
using trace::ErrorKind;
using trace::fail;
using trace::Result;

class Object;
class Value;
struct Entry;
using Items = std::vector<Value>;
using Entries = std::vector<Entry>;

enum class Kind {
  kUndefined,
  kNone,
  kBoolean,
  kInteger,
  kReal,
  kText,
  kList,
  kTuple,
  kDict,
  kObject
};

// Nested containers deeper than this are refused: every walk over a value recurses.
inline constexpr int kDeepestValue = 100;

class Value {
 public:
  Value() = default;  // None
  // Jinja's Undefined; `why` is the message of whoever uses it for more than printing and testing.
  static Value undefined(std::string why);
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value real(double value);
  // UTF-8. `safe`: already escaped for HTML, as markupsafe's Markup.
  static Value text(std::string text, bool safe = false);
  // Neither checks the depth of what it holds: RenderBudget::list does.
  static Value list(Items items);
  static Value tuple(Items items);
  static Value dict(Entries entries);
  static Value object(std::shared_ptr<Object> object);

  Kind kind() const;
  bool is_undefined() const { return kind() == Kind::kUndefined; }
  bool is_none() const { return kind() == Kind::kNone; }
  bool is_text() const { return kind() == Kind::kText; }
  bool is_dict() const { return kind() == Kind::kDict; }
  bool is_sequence() const { return kind() == Kind::kList || kind() == Kind::kTuple; }
  // A bool counts as the integer it is in Python.
  bool is_whole() const { return kind() == Kind::kInteger || kind() == Kind::kBoolean; }
  bool is_number() const { return is_whole() || kind() == Kind::kReal; }

  // Each needs the kind it names.
  const std::string& why() const;
  bool as_boolean() const;
  std::int64_t as_integer() const;  // also of a bool
  double as_real() const;           // of any number
  const std::string& as_text() const;
  bool is_safe() const;
  const Items& items() const;  // of a list or a tuple
  const Entries& entries() const;
  Object& as_object() const;
  const std::shared_ptr<Object>& shared_object() const;

  // How deeply containers are nested in it: 0 for what holds nothing.
  int depth() const;
  // The same object in memory, as `is` of Python; for small values: equal.
  bool same_as(const Value& other) const;
  // Python's name of its type: "str", "dict", …
  std::string type_name() const;

  // The entry of a dict with this text as its key; null: none, or not a dict.
  const Value* find(std::string_view key) const;

 private:
  struct Why {
    std::shared_ptr<const std::string> message;
  };
  struct Text {
    std::string text;
    bool safe;
  };
  struct Holder {
    Items items;
    int depth;
  };
  struct Mapping {
    Entries entries;
    int depth;
  };
  struct Tuple {
    std::shared_ptr<const Holder> holder;
  };
  using Data = std::variant<std::monostate, Why, bool, std::int64_t, double,
                            std::shared_ptr<const Text>, std::shared_ptr<const Holder>, Tuple,
                            std::shared_ptr<const Mapping>, std::shared_ptr<Object>>;
  explicit Value(Data data) : data_(std::move(data)) {}

  Data data_;
};

// In the order in which they were inserted, as a Python dict.
struct Entry {
  Value key;
  Value value;
};

// Puts the value where this text is the key, or at the end.
void set_text_entry(Entries& entries, std::string_view key, Value value);

// A JSON document as a value. Refused: nesting beyond kDeepestValue, integers beyond 64 bits.
Result<Value> value_from_json(const nlohmann::ordered_json& json);

}  // namespace shardlens::trainer::chat
