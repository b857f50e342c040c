// What templates compute, from the documentation of Jinja and Python; the comparison with the real
// ones is tests/trainer/truth/chat_truth.py.
#include "trainer/chat/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trainer/chat/template_parser.h"

namespace shardlens::trainer::chat {
namespace {

using ::testing::HasSubstr;

constexpr const char* kVariables = R"({
  "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}],
  "map": {"role": "user", "items": 1}, "numbers": [3, 1, 2], "text": "Hello", "half": 0.5, "nothing": null
})";

Result<Rendering> rendering_of(std::string_view source) {
  const auto variables = value_from_json(nlohmann::ordered_json::parse(kVariables));
  TRY_ASSIGN(const ParsedTemplate parsed, parse_template(source));
  Interpreter interpreter(0);
  return interpreter.run(parsed.body, variables->entries());
}

std::string rendered(std::string_view source) {
  const auto result = rendering_of(source);
  return result ? result->text : "error: " + result.error().message;
}

std::string error_of(std::string_view source) {
  const auto result = rendering_of(source);
  return result ? "no error: " + result->text : result.error().message;
}

TEST(Interpreter, FollowsThePrecedenceOfJinja) {
  EXPECT_EQ(rendered("{{ 1 + 2 * 3 ** 2 }}"), "19");
  EXPECT_EQ(rendered("{{ 'a' ~ 1 + 1 }}"), "error: line 1: unsupported types for '+': str and int");
  EXPECT_EQ(rendered("{{ not 1 == 2 and true }}"), "True");
  EXPECT_EQ(rendered("{{ -3 | abs }}"), "3");
  EXPECT_EQ(rendered("{{ 'a' if false else 'b' if false else 'c' }}"), "c");
  EXPECT_EQ(rendered("{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }}"), "True False");
}

TEST(Interpreter, ShowsValuesAsPythonDoes) {
  EXPECT_EQ(rendered("{{ true }} {{ nothing }} {{ 1.0 }} {{ 1e16 }} {{ 1e-5 }}"),
            "True None 1.0 1e+16 1e-05");
  EXPECT_EQ(rendered("{{ [1, 'it\\'s', (2,), {'a': none}] }}"),
            R"([1, "it's", (2,), {'a': None}])");
  EXPECT_EQ(rendered("{{ missing }}|{{ 7 // 2 }}|{{ -7 // 2 }}|{{ -7 % 3 }}|{{ 7 / 2 }}"),
            "|3|-4|2|3.5");
}

TEST(Interpreter, PrefersAttributesWithADotAndItemsWithBrackets) {
  EXPECT_EQ(rendered("{{ map.role }}{{ map['items'] }}{{ map.items() | list | length }}"),
            "user12");
  EXPECT_EQ(
      rendered("{{ numbers[-1] }}{{ numbers[::-1] }}{{ 'äöü'[1] }}{{ numbers[9] is defined }}"),
      "2[2, 1, 3]öFalse");
}

TEST(Interpreter, KeepsWhatALoopSetsWithinTheLoop) {
  EXPECT_EQ(
      rendered(
          "{% set x = 1 %}{% for n in numbers %}{% set x = x + n %}{{ x }},{% endfor %}{{ x }}"),
      "4,2,3,1");
  EXPECT_EQ(
      rendered(
          "{% set ns = namespace(x=1) %}{% for n in numbers %}{% set ns.x = ns.x + n %}{% endfor %}"
          "{{ ns.x }}"),
      "7");
  EXPECT_EQ(rendered("{% if true %}{% set x = 5 %}{% endif %}{{ x }}"), "5");
}

TEST(Interpreter, TellsALoopWhereItIs) {
  EXPECT_EQ(
      rendered(
          "{% for n in numbers %}{{ loop.index }}/{{ loop.length }}{{ '.' if loop.last else ',' }}"
          "{{ loop.previtem }}{{ loop.cycle('a', 'b') }} {% endfor %}"),
      "1/3,a 2/3,3b 3/3.1a ");
  EXPECT_EQ(rendered("{% for n in numbers if n > 9 %}{{ n }}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(rendered("{% for n in range(9) %}{% if n is odd %}{% continue %}{% endif %}"
                     "{% if n > 5 %}{% break %}{% endif %}{{ n }}{% endfor %}"),
            "024");
}

TEST(Interpreter, PutsItemsOfAFilteredLoopTogetherAgain) {
  EXPECT_EQ(rendered("{% for a, b in [[1, 2], [3, 4]] %}{{ loop.nextitem }}{% endfor %}"),
            "[3, 4]");
  EXPECT_EQ(rendered("{% for a, b in [[1, 2], [3, 4]] if a %}{{ loop.nextitem }}{% endfor %}"),
            "(3, 4)");
}

TEST(Interpreter, TakesTheElseOfALoopWhereNoRoundEnds) {
  EXPECT_EQ(rendered("{% for n in numbers %}{% continue %}{% else %}else{% endfor %}"), "else");
  EXPECT_EQ(
      rendered(
          "{% for n in numbers %}{% if n == 2 %}{% break %}{% endif %}{% else %}else{% endfor %}"),
      "");
}

TEST(Interpreter, CallsMacrosWithNamesDefaultsAndTheCaller) {
  EXPECT_EQ(
      rendered("{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(b=3, a=4) }}"),
      "1243");
  EXPECT_EQ(rendered("{% macro box() %}[{{ caller(7) }}]{% endmacro %}{% call(x) box() %}{{ x }}{% "
                     "endcall %}"),
            "[7]");
  EXPECT_THAT(error_of("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
              HasSubstr("not more than 1"));
}

TEST(Interpreter, TakesSpacesAwayAsTransformersSetsItUp) {
  // trim_blocks takes the line end after a block, lstrip_blocks the spaces before it.
  EXPECT_EQ(rendered("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(rendered("a  {%- if true -%}  b  {%- endif -%}  c"), "abc");
  EXPECT_EQ(rendered("a\n  {%+ if true +%}\nb{% endif %}"), "a\n  \nb");
  EXPECT_EQ(rendered("{{ 1 }}\n{{ 2 -}}\n{# c #}\n3"), "1\n23");
}

TEST(Interpreter, GivesGeneratorsOnce) {
  EXPECT_EQ(rendered("{% set g = numbers | select('odd') %}{{ g | list }}{{ g | list }}"),
            "[3, 1][]");
  EXPECT_EQ(rendered("{{ numbers | select | slice(2) | list }}"), "[[3, 1], [2]]");
  EXPECT_THAT(error_of("{{ numbers | map('string') | length }}"), HasSubstr("has no length"));
}

TEST(Interpreter, WritesJsonAsPythonDoes) {
  EXPECT_EQ(rendered("{{ {'a': [1, 2.0, none, true], 'é': '\"\\n'} | tojson }}"),
            R"({"a": [1, 2.0, null, true], "é": "\"\n"})");
  EXPECT_EQ(rendered("{{ {'a': [1]} | tojson(indent=2) }}"), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(Interpreter, RefusesWhatTheSandboxRefuses) {
  EXPECT_THAT(error_of("{{ numbers.append(1) }}"), HasSubstr("'append' would change a list"));
  EXPECT_THAT(error_of("{{ map.update({}) }}"), HasSubstr("'update' would change a dict"));
  EXPECT_THAT(error_of("{% set ns = namespace() %}{% set ns._x = 1 %}"),
              HasSubstr("begin with '_'"));
  EXPECT_THAT(error_of("{{ range(100001) }}"), HasSubstr("100000"));
}

TEST(Interpreter, SaysTheLineAndTheReasonOfAnError) {
  EXPECT_EQ(error_of("\n\n{{ raise_exception('Roles must alternate: ' ~ text) }}"),
            "line 3: Roles must alternate: Hello");
  EXPECT_EQ(error_of("a\n{{ missing.role }}"), "line 2: 'missing' is undefined");
  EXPECT_EQ(error_of("{{ map.missing.more }}"), "line 1: 'dict object' has no attribute 'missing'");
  EXPECT_EQ(error_of("{{ text | groupby('x') }}"), "line 1: the filter 'groupby' is not supported");
  EXPECT_EQ(error_of("{{ text | shout }}"), "line 1: the filter 'shout' is not known");
  EXPECT_EQ(error_of("{{ text.lower(1) }}"), "line 1: lower() takes at most 0 arguments");
  EXPECT_EQ(error_of("{{ text.rfind(1) }}"), "line 1: rfind() got a value of type int");
  EXPECT_EQ(error_of("{{ text | e(1) }}"), "line 1: e() takes at most 0 arguments");
}

TEST(Interpreter, NotesWhatGenerationBlocksEnclose) {
  const auto result = rendering_of(
      "ü{% generation %}ab{% endgeneration %}c{% for n in numbers %}"
      "{% generation %}{{ n }}{% endgeneration %}{% endfor %}");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "üabc312");
  EXPECT_THAT(result->generated, ::testing::ElementsAre(ByteRange{2, 4}, ByteRange{5, 6},
                                                        ByteRange{6, 7}, ByteRange{7, 8}));
}

TEST(Interpreter, FormatsTheDateItIsGiven) {
  const auto parsed = parse_template("{{ strftime_now('%d %b %Y') }}");
  ASSERT_TRUE(parsed);
  Interpreter interpreter(1'753'500'000);
  EXPECT_EQ(interpreter.run(parsed->body, {})->text, "26 Jul 2025");
}

}  // namespace
}  // namespace shardlens::trainer::chat
