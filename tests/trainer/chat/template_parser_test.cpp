#include "trainer/chat/template_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace shardlens::trainer::chat {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view source) {
  const auto parsed = parse_template(source);
  return parsed ? "no error" : parsed.error().message;
}

TEST(TemplateParser, SaysTheLineOfWhatIsWrong) {
  EXPECT_THAT(error_of("a\nb\n{{ 1 + }}"), HasSubstr("line 3: unexpected '}}'"));
  EXPECT_THAT(error_of("\n{% if x %}\nb"), HasSubstr("{% endif %} is missing"));
  EXPECT_THAT(error_of("{{ 'a }}"), HasSubstr("line 1: a text that does not end"));
  EXPECT_THAT(error_of("{{ (1 ] }}"), HasSubstr("unexpected ']'"));
  EXPECT_THAT(error_of("\n\n{# a"), HasSubstr("line 3: a comment"));
}

TEST(TemplateParser, NamesWhatIsNotKnown) {
  EXPECT_THAT(error_of("{% trans %}"), HasSubstr("the tag 'trans', which is not known here"));
  EXPECT_THAT(error_of("\n{% include 'x' %}"), HasSubstr("line 2: {% include %}"));
  EXPECT_THAT(error_of("{% for x in y recursive %}{% endfor %}"), HasSubstr("'recursive' loops"));
  EXPECT_THAT(error_of("{% break %}"), HasSubstr("outside of a loop"));
}

TEST(TemplateParser, RefusesWhatIsNotUtf8) {
  EXPECT_THAT(error_of("a\xff"), HasSubstr("not UTF-8"));
}

TEST(TemplateParser, RefusesNestingThatWouldExhaustTheStack) {
  constexpr int kMany = 10'000;
  const std::string many(kMany, '(');
  EXPECT_THAT(error_of("{{ " + many + "1"), HasSubstr("too deeply"));
  std::string chain = "{{ 1";
  for (int i = 0; i < kMany; ++i) chain += " + 1";
  EXPECT_THAT(error_of(chain + " }}"), HasSubstr("more than 200 times"));
  std::string blocks;
  for (int i = 0; i < kMany; ++i) blocks += "{% if x %}";
  EXPECT_THAT(error_of(blocks), HasSubstr("too deeply"));
}

TEST(TemplateParser, NoticesMarkedAnswers) {
  EXPECT_FALSE(parse_template("{{ 'generation' }}")->marks_answers);
  EXPECT_TRUE(
      parse_template("{% if x %}{%- generation -%}{% endgeneration %}{% endif %}")->marks_answers);
}

}  // namespace
}  // namespace shardlens::trainer::chat
