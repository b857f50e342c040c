// Templates come from strangers: they end, in time and in memory, with a text or an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "trainer/chat/chat_template.h"

namespace shardlens::trainer::chat {
namespace {

using ::testing::HasSubstr;

Value conversation() {
  return *value_from_json(nlohmann::ordered_json::parse(
      R"([{"role": "system", "content": "s"}, {"role": "user", "content": "a\nb"},
          {"role": "assistant", "content": "<think>x</think>ü"}, {"role": "user", "content": ""}])"));
}

// A small part of what a rendering has otherwise: the same cases end, only sooner.
constexpr std::size_t kFewUnits = kRenderUnits / 32;

// Nothing: it rendered.
std::string error_of(std::string_view source, std::size_t units = kRenderUnits) {
  const auto chat = ChatTemplate::parse(source, {});
  if (!chat) return chat.error().message;
  RenderOptions options;
  options.units = units;
  const auto text = chat->render(conversation(), options);
  return text ? std::string() : text.error().message;
}

constexpr const char* kTooMuch = "more work or memory than any chat needs";

TEST(HostileTemplate, CannotLoopWithoutEnd) {
  EXPECT_THAT(
      error_of("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
               kFewUnits),
      HasSubstr(kTooMuch));
  EXPECT_THAT(error_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", kFewUnits),
              HasSubstr("too deeply"));
  EXPECT_THAT(error_of("{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% "
                       "endmacro %}{{ f(60) }}",
                       kFewUnits),
              HasSubstr(kTooMuch));
}

TEST(HostileTemplate, CannotFillTheMemory) {
  for (const char* source : {
           "{{ 'x' * 10000000000 }}",
           "{{ [1] * 10000000000 }}",
           "{% set ns = namespace(x='xx') %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% "
           "endfor %}",
           "{% set ns = namespace(x='xx') %}{% for i in range(64) %}{% set ns.x = ns.x | "
           "replace('x', ns.x) %}{% endfor %}",
           "{% set ns = namespace(x='xx') %}{% for i in range(64) %}{% set ns.x = ns.x.join([ns.x, "
           "ns.x]) %}{% endfor %}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% "
           "endfor %}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% "
           "endfor %}{{ ns.x }}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% "
           "endfor %}{{ ns.x | tojson }}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% "
           "endfor %}{{ ns.x == ns.x[:] + [] }}",
           "{{ [1, 2] | batch(10000000000, 0) | list }}",
           "{{ ('\\n' * 100000) | indent('x' * 10000) }}",
       }) {
    EXPECT_THAT(error_of(source, kFewUnits), HasSubstr(kTooMuch)) << source;
  }
  // What a rendering has unless told otherwise is a bound, too.
  EXPECT_EQ(error_of("{{ ('x' * 1000) * 50000 }}"), "");
  EXPECT_THAT(error_of("{{ ('x' * 1000) * 300000 }}"), HasSubstr(kTooMuch));
  EXPECT_THAT(error_of("{{ 'x'.ljust(10000000000) }}"), HasSubstr("beyond 10000"));
  EXPECT_THAT(error_of("{{ '%10000000000d' % 1 }}"), HasSubstr("beyond 10000"));
  EXPECT_THAT(error_of("{{ '{:10000000000}'.format(1) }}"), HasSubstr("not supported"));
}

// Each would take minutes if it took as many steps as its text is long, times what is looked for.
TEST(HostileTemplate, CannotMakeALongTextSlow) {
  const auto start = std::chrono::steady_clock::now();
  const std::string texts = "{% set a = 'a' * 1500000 %}{% set b = 'a' * 750000 %}";
  for (const char* step : {
           "{{ (b ~ 'x') in a }}",
           "{{ a.find(b ~ 'x') }}{{ a.rfind('x' ~ b) }}{{ a.count(b ~ 'x') }}",
           "{{ a.split(b ~ 'x') | length }}{{ a.rsplit('x' ~ b) | length }}",
           "{{ a.replace(b ~ 'x', '') | length }}{{ a.rpartition('x' ~ b) | length }}",
           "{{ a.strip('x' * 750000 ~ 'a') | length }}",
           "{{ ('1_' * 750000 ~ '1') | int }}",
       }) {
    EXPECT_EQ(error_of(texts + step), "") << step;
  }
  EXPECT_THAT(
      error_of("{% for i in range(100000) %}{% set x = '%010000d' % 1 %}{% endfor %}", kFewUnits),
      HasSubstr(kTooMuch));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST(HostileTemplate, CannotMakeManyNamesSlow) {
  std::string names, call = "{{ dict(", sets = "{% set ns = namespace() %}";
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "a" + std::to_string(i);
    names += "{% set " + name + " = 1 %}";
    sets += "{% set ns." + name + " = 1 %}";
    call += name + "=1, ";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(names), "");
  EXPECT_THAT(error_of(sets), HasSubstr(kTooMuch));
  EXPECT_THAT(error_of(call + "b=1) }}"), HasSubstr("more than 1000 arguments"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

TEST(HostileTemplate, CannotNestValuesUntilTheStackEnds) {
  const char* loop = "{% set ns = namespace(x=1) %}{% for i in range(50000) %}";
  for (const char* step : {"{% set ns.x = [ns.x] %}", "{% set ns.x = {'a': ns.x} %}",
                           "{% set ns.x = [ns.x] | map('string') %}",
                           "{% set ns.x = cycler(ns.x) %}", "{% set ns.x = joiner(ns.x) %}"}) {
    EXPECT_THAT(error_of(std::string(loop) + step + "{% endfor %}"),
                HasSubstr("nested more than 100"))
        << step;
  }
  // Chains of what is no container, and what holds itself: freed without recursion, shown within
  // limits.
  EXPECT_EQ(error_of(std::string(loop) + "{% set ns.x = namespace(x=ns.x) %}{% endfor %}"), "");
  EXPECT_EQ(
      error_of(
          std::string(loop) +
          "{% set p = ns.x %}{% macro f() %}{{ p }}{% endmacro %}{% set ns.x = f %}{% endfor %}"),
      "");
  EXPECT_EQ(error_of("{% set ns = namespace() %}{% set ns.x = [ns] %}"), "");
  EXPECT_THAT(error_of("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}"),
              HasSubstr("contains itself"));
}

constexpr const char* kGood =
    "{%- set ns = namespace(n=0) -%}{% macro turn(m, end='<end>') %}<{{ m.role }}>{{ m.content | "
    "trim }}{{ end }}"
    "{% endmacro %}{% for m in messages[1:] if m.role != 'system' %}{% set ns.n = ns.n + 1 %}{{ "
    "turn(m) }}"
    "{{ '%s|%5.2f' % (m['role'][::-1], 1.5) }}{{ {'a': [loop.index, m.content]} | tojson(indent=2) "
    "}}"
    "{%- if '</think>' in m.content %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}{% elif "
    "loop.last %}!"
    "{% else %}{% generation %}{{ '{:>4}'.format(ns.n) }}{% endgeneration %}{% endif %}{# c #}{% "
    "endfor %}"
    "{% raw %}{{ x }}{% endraw %}{{ messages | selectattr('role', 'equalto', 'user') | "
    "map(attribute='content') | join(',') }}";

TEST(HostileTemplate, MutatedEndsWithATextOrAnError) {
  ASSERT_EQ(error_of(kGood), "");
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::string source = kGood;
  constexpr std::string_view kPieces[] = {
      "{{",   "}}",     "{%", "%}", "-",  "(",           ")", "[",    "]",  "'",    "|", " for ",
      " if ", "endfor", "\\", "{#", "**", "99999999999", "~", "loop", "\n", "\xc3", ":"};
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string mutated = source;
    for (std::size_t changes = below(4) + 1; changes > 0; --changes) {
      const std::size_t at = below(mutated.size());
      const std::size_t kind = below(4);
      if (kind == 0) mutated[at] = static_cast<char>(below(256));
      if (kind == 1) mutated.erase(at, below(12));
      if (kind == 2) mutated.insert(at, kPieces[below(std::size(kPieces))]);
      if (kind == 3) mutated.insert(at, mutated.substr(below(mutated.size()), below(40)));
    }
    refused += error_of(mutated).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 1500);
}

TEST(HostileTemplate, OfRandomBytesEndsWithATextOrAnError) {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = round % 2 == 0 ? "{{" : "{%";
    for (std::size_t i = random() % 200; i > 0; --i) {
      bytes += static_cast<char>(round % 3 == 0 ? random() % 256 : 32 + random() % 95);
    }
    const auto chat = ChatTemplate::parse(bytes, {});
    if (chat) (void)chat->render_with_answers(conversation());
  }
}

}  // namespace
}  // namespace shardlens::trainer::chat
