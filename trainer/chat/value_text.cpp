#include "trainer/chat/value_text.h"

#include "trainer/chat/object.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

// Namespaces can hold themselves.
constexpr int kDeepestText = 4 * kDeepestValue;

class Representation {
 public:
  explicit Representation(RenderBudget& budget) : budget_(budget) {}

  Result<void> append(const Value& value, int depth) {
    if (depth > kDeepestText) {
      return fail(ErrorKind::kDamaged, "a value that contains itself cannot be shown");
    }
    TRY(budget_.spend_items(1));
    switch (value.kind()) {
      case Kind::kList:
        return append_items(value.items(), "[", "]", depth);
      case Kind::kTuple:
        return append_items(value.items(), "(", value.items().size() == 1 ? ",)" : ")", depth);
      case Kind::kDict:
        return append_entries(value.entries(), depth);
      case Kind::kObject:
        return append_object(value.as_object(), depth);
      default:
        return append_plain(value);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  Result<void> append_plain(const Value& value) {
    std::string part;
    if (value.is_text()) {
      part = chat::quoted(value.as_text());
      if (value.is_safe()) part = "Markup(" + part + ")";
    } else if (value.kind() == Kind::kBoolean) {
      part = value.as_boolean() ? "True" : "False";
    } else if (value.kind() == Kind::kInteger) {
      part = std::to_string(value.as_integer());
    } else if (value.kind() == Kind::kReal) {
      part = chat::shown(value.as_real());
    } else {
      part = value.is_none() ? "None" : "Undefined";
    }
    text_ += part;
    return budget_.spend(part.size());
  }

  Result<void> append_items(const Items& items, const char* open, const char* close, int depth) {
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      TRY(append(items[i], depth + 1));
    }
    text_ += close;
    return {};
  }

  Result<void> append_entries(const Entries& entries, int depth) {
    text_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) text_ += ", ";
      TRY(append(entries[i].key, depth + 1));
      text_ += ": ";
      TRY(append(entries[i].value, depth + 1));
    }
    text_ += '}';
    return {};
  }

  Result<void> append_object(const Object& object, int depth) {
    if (const auto* space = dynamic_cast<const Namespace*>(&object)) {
      text_ += "<Namespace ";
      TRY(append_entries(space->entries(), depth));
      text_ += '>';
    } else if (const auto* view = dynamic_cast<const DictView*>(&object)) {
      text_ += view->type_name() + "(";
      TRY(append(view->items(), depth + 1));
      text_ += ')';
    } else {
      text_ += object.representation();
    }
    return {};
  }

  RenderBudget& budget_;
  std::string text_;
};

class Json {
 public:
  Json(RenderBudget& budget, const JsonStyle& style) : budget_(budget), style_(style) {}

  Result<void> append(const Value& value, int depth) {
    TRY(budget_.spend_items(1));
    if (value.is_sequence()) return append_items(value.items(), depth);
    if (value.is_dict()) return append_entries(value.entries(), depth);
    if (value.is_text()) return append_text(value.as_text());
    TRY_ASSIGN(const std::string plain, plain_text(value));
    text_ += plain;
    return {};
  }

  std::string take() { return std::move(text_); }

 private:
  static Result<std::string> plain_text(const Value& value) {
    switch (value.kind()) {
      case Kind::kNone:
        return "null";
      case Kind::kBoolean:
        return value.as_boolean() ? "true" : "false";
      case Kind::kInteger:
        return std::to_string(value.as_integer());
      case Kind::kReal: {
        const std::string text = chat::shown(value.as_real());
        if (text == "nan") return "NaN";
        if (text == "inf") return "Infinity";
        return text == "-inf" ? "-Infinity" : text;
      }
      default:
        return fail(ErrorKind::kDamaged,
                    "a value of type " + value.type_name() + " cannot be written as JSON");
    }
  }

  void append_escaped(char32_t unit) {
    constexpr char kDigits[] = "0123456789abcdef";
    text_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text_ += kDigits[(unit >> shift) & 15];
  }

  Result<void> append_text(std::string_view text) {
    const std::size_t before = text_.size();
    text_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const Character character = character_at(text, at);
      append_character_of_text(character.code, text.substr(at, character.bytes));
      at += character.bytes;
    }
    text_ += '"';
    return budget_.spend(text_.size() - before);
  }

  void append_character_of_text(char32_t code, std::string_view as_is) {
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
    constexpr std::string_view kNames = "\"\\bfnrt";
    const std::size_t named =
        code < 0x80 ? kNamed.find(static_cast<char>(code)) : std::string_view::npos;
    if (named != std::string_view::npos) {
      text_ += '\\';
      text_ += kNames[named];
    } else if (code < 0x20 || (style_.ascii && code > 0x7E && code < 0x10000)) {
      append_escaped(code);
    } else if (style_.ascii && code >= 0x10000) {
      append_escaped(0xD800 + ((code - 0x10000) >> 10));
      append_escaped(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      text_ += as_is;
    }
  }

  Result<void> begin_line(int depth) {
    if (!style_.indent) return {};
    TRY(budget_.spend(style_.indent->size() * static_cast<std::size_t>(depth) + 1));
    text_ += '\n';
    for (int i = 0; i < depth; ++i) text_ += *style_.indent;
    return {};
  }

  Result<void> append_items(const Items& items, int depth) {
    text_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += style_.item_separator;
      TRY(begin_line(depth + 1));
      TRY(append(items[i], depth + 1));
    }
    if (!items.empty()) TRY(begin_line(depth));
    text_ += ']';
    return budget_.spend(items.size() * style_.item_separator.size());
  }

  Result<void> append_entries(Entries entries, int depth) {
    if (style_.sorted) TRY(sort_entries(entries));
    text_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) text_ += style_.item_separator;
      TRY(begin_line(depth + 1));
      if (entries[i].key.is_text()) {
        TRY(append_text(entries[i].key.as_text()));
      } else {
        TRY_ASSIGN(const std::string key, plain_text(entries[i].key));
        TRY(append_text(key));
      }
      text_ += style_.key_separator;
      TRY(append(entries[i].value, depth + 1));
    }
    if (!entries.empty()) TRY(begin_line(depth));
    text_ += '}';
    return budget_.spend(entries.size() *
                         (style_.item_separator.size() + style_.key_separator.size()));
  }

  Result<void> sort_entries(Entries& entries) {
    std::vector<Items> keys;
    for (const Entry& entry : entries) keys.push_back({entry.key});
    TRY_ASSIGN(const std::vector<std::size_t> order, sorted_order(budget_, keys, false));
    Entries sorted;
    for (const std::size_t index : order) sorted.push_back(entries[index]);
    entries = std::move(sorted);
    return {};
  }

  RenderBudget& budget_;
  const JsonStyle& style_;
  std::string text_;
};

}  // namespace

Result<std::string> shown(RenderBudget& budget, const Value& value) {
  if (value.is_text()) {
    TRY(budget.spend(value.as_text().size()));
    return value.as_text();
  }
  if (value.is_undefined()) return std::string();
  return representation(budget, value);
}

Result<std::string> representation(RenderBudget& budget, const Value& value) {
  Representation text(budget);
  TRY(text.append(value, 0));
  return text.take();
}

Result<std::string> to_json(RenderBudget& budget, const Value& value, const JsonStyle& style) {
  Json json(budget, style);
  TRY(json.append(value, 0));
  return json.take();
}

}  // namespace shardlens::trainer::chat
