#include "ui/present/format.h"

#include <gtest/gtest.h>

#include <limits>

#include "ui/present/axis.h"

namespace shardlens::ui::present {

namespace {

float by_bytes(std::string_view text) {
  float width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) == 0x80 ? 0.0f : 1.0f;
  return width;
}

TEST(Format, TellsNoDateOfClocksThatCountFromTheMachinesStart) {
  EXPECT_FALSE(is_date(0));
  EXPECT_FALSE(is_date(std::int64_t{400} * 86'400 * 1'000'000'000)) << "up for a year";
  EXPECT_TRUE(is_date(1'700'000'000'000'000'000));
}

TEST(FormatDuration, ChoosesTheUnitBySize) {
  EXPECT_EQ(format_duration(0).text(), "0 ms");
  EXPECT_EQ(format_duration(850).text(), "0.85 µs");
  EXPECT_EQ(format_duration(42'100).text(), "42.1 µs");
  EXPECT_EQ(format_duration(7'250'000).text(), "7.25 ms");
  EXPECT_EQ(format_duration(236'400'000).text(), "236.4 ms");
  EXPECT_EQ(format_duration(1'234'000'000).text(), "1.23 s");
}

TEST(FormatDuration, DoesNotShowAThousandOfAUnitThatHasALargerOne) {
  EXPECT_EQ(format_duration(999'960).text(), "1.00 ms");
  EXPECT_EQ(format_duration(999'970'000).text(), "1.00 s");
}

TEST(FormatDuration, GivesADifferenceAsManyDigitsAsItIsKnownTo) {
  using trace::base::format_signed_duration;
  EXPECT_EQ(format_signed_duration(23.41e6, 7.19e6), "+23.4 ms ± 7.2");
  EXPECT_EQ(format_signed_duration(-4.2e6, 1.58e6), "−4.2 ms ± 1.6");
  EXPECT_EQ(format_signed_duration(123.4e6, 45.6e6), "+123 ms ± 46");
  EXPECT_EQ(format_signed_duration(1.234e6, 0.0712e6), "+1.23 ms ± 0.07");
  EXPECT_EQ(format_signed_duration(0.4e6, 9.6e6), "+0.4 ms ± 9.6")
      << "in the unit of the larger one";
  EXPECT_EQ(format_signed_duration(5e6, 0.0), "+5.00 ms ± 0.00");
  EXPECT_EQ(format_signed_duration(5e6), "+5.00 ms");
  EXPECT_EQ(format_signed_duration(405.2e6, 12.3e9), "+0.4 s ± 12.3");
  EXPECT_EQ(format_signed_duration(-37e6, 2.9e9), "−0.04 s ± 2.90");
  EXPECT_EQ(format_signed_duration(-0.3e6, 312e6), "0 ms ± 312") << "no −0";
  EXPECT_EQ(format_signed_duration(-2), "0.00 µs");
  EXPECT_EQ(format_signed_duration(-0.6e6, 312e6), "−1 ms ± 312");
}

TEST(FormatDuration, KeepsOneUnitForAnAxis) {
  EXPECT_EQ(format_duration_in(1'200'000, "ms").text(), "1.20 ms");
  EXPECT_EQ(format_duration_in(0, "s").text(), "0 s");
}

TEST(FormatNumber, HasThreeOrFourSignificantDigits) {
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(99.96), "100.0");
  EXPECT_EQ(format_number(1204), "1,204");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(FormatInteger, GroupsThousandsWithATrueMinus) {
  EXPECT_EQ(format_integer(0), "0");
  EXPECT_EQ(format_integer(999), "999");
  EXPECT_EQ(format_integer(4812), "4,812");
  EXPECT_EQ(format_integer(10'200'000), "10,200,000");
  EXPECT_EQ(format_integer(-1500), "−1,500");
}

TEST(FormatBytes, UsesBinaryUnits) {
  EXPECT_EQ(format_bytes(0).text(), "0 B");
  EXPECT_EQ(format_bytes(512).text(), "512 B");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(format_bytes(1024).text(), "1.00 KiB");
  EXPECT_EQ(format_bytes(147.0 * 1048576).text(), "147 MiB");
  EXPECT_EQ(format_bytes(9.7 * 1073741824).text(), "9.70 GiB");
  EXPECT_EQ(format_bytes(1'052'672).text(), "1.00 MiB");
}

TEST(OneDigitFewer, RoundsWhatHasDecimals) {
  EXPECT_EQ(one_digit_fewer("1.13"), "1.1");
  EXPECT_EQ(one_digit_fewer("1.18"), "1.2");
  EXPECT_EQ(one_digit_fewer("42.1"), "42");
  EXPECT_EQ(one_digit_fewer("147"), "147");
}

TEST(FormatRate, PutsTheMagnitudeIntoTheUnit) {
  EXPECT_EQ(format_rate(138'700, "/s").text(), "138.7 k/s");
  EXPECT_EQ(format_rate(512.3, "/s").text(), "512.3 /s");
  EXPECT_EQ(format_bandwidth(41.2e9).text(), "41.2 GB/s");
  EXPECT_EQ(format_bandwidth(0).text(), "0.00 GB/s");
  EXPECT_EQ(format_bandwidth(4.2e6).text(), "4.20 MB/s");
  EXPECT_EQ(format_bandwidth(51.4e6).text(), "51.4 MB/s");
  EXPECT_EQ(format_bandwidth(0.9999e9).text(), "1.00 GB/s");
  EXPECT_EQ(format_bandwidth(12'500).text(), "12.5 kB/s");
  EXPECT_EQ(format_bandwidth(3'500).text(), "3.50 kB/s");
}

TEST(FormatNumber, HasTheMinusSignOfSignedFigures) {
  EXPECT_EQ(format_number(-92.9), "−92.9");
  EXPECT_EQ(format_number(-0.001), "0.00");
  EXPECT_EQ(format_percent(-0.131).text(), "−13 %");
  EXPECT_EQ(format_percent(-0.0231).text(), "−2.3 %");
}

TEST(FormatPercent, HasADecimalOnlyWhereItIsSmall) {
  EXPECT_EQ(format_percent(0.67).text(), "67 %");
  EXPECT_EQ(format_percent(0.002).text(), "0.2 %");
  EXPECT_EQ(format_percent(0).text(), "0 %");
  EXPECT_EQ(format_percent(0.0001).text(), "< 0.1 %");
  EXPECT_EQ(format_signed_percent(0.146), "+14.6 %");
  EXPECT_EQ(format_signed_percent(-0.002), "−0.2 %");
}

TEST(FormatWhen, NamesTheDayOfAnotherDay) {
  const std::int64_t now_ns = static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000;
  const std::int64_t before_ns = now_ns - std::int64_t{40} * 86'400 * 1'000'000'000;
  EXPECT_EQ(format_when(now_ns), format_date(now_ns).substr(11, 5));
  EXPECT_EQ(format_when(before_ns), format_date(before_ns).substr(5, 11));
}

TEST(FormatElapsed, CountsTenthsThenHours) {
  EXPECT_EQ(format_elapsed(38.44), "0:38.4");
  EXPECT_EQ(format_elapsed(3847), "1:04:07");
  EXPECT_EQ(format_elapsed(-1), "0:00.0");
  EXPECT_EQ(format_seconds_left(37.2), "38 s left");
  EXPECT_EQ(format_seconds_left(240), "4 min left");
  EXPECT_EQ(format_seconds_left(-1), "");
}

TEST(Elide, KeepsWhatFitsAndEndsInAnEllipsis) {
  EXPECT_EQ(elide("bucket", 10, by_bytes), "bucket");
  EXPECT_EQ(elide("bucket_cap_mb", 6, by_bytes), "bucke…");
  EXPECT_EQ(elide("cap 60 MiB", 5, by_bytes), "cap…") << "no space before the ellipsis";
}

TEST(Elide, NeverCutsACharacterInTwo) {
  const std::string cut = elide("µµµµµµ", 3, by_bytes);
  EXPECT_EQ(cut, "µµ…");
}

TEST(Elide, AtItsStartKeepsTheEndOfAPath) {
  EXPECT_EQ(elide_start("/models/Llama", 13, by_bytes), "/models/Llama");
  EXPECT_EQ(elide_start("/models/Llama", 9, by_bytes), "…ls/Llama");
  EXPECT_EQ(elide_start("µµµµµµ", 3, by_bytes), "…µµ") << "no character cut in two";
  EXPECT_EQ(elide_start("/models/Llama", 1, by_bytes), "");
}

TEST(Elide, InTheMiddleKeepsBothEndsOfAName) {
  EXPECT_EQ(elide_middle("gemm_64x64_nt", 13, by_bytes), "gemm_64x64_nt");
  EXPECT_EQ(elide_middle("gemm_64x64_nt", 8, by_bytes), "gemm…_nt");
  EXPECT_EQ(elide_middle("gemm_64x64_nt", 7, by_bytes), "gem…_nt");
  EXPECT_EQ(elide_middle("µµµµµµ", 3, by_bytes), "µ…µ") << "no character cut in two";
  EXPECT_EQ(elide_middle("gemm", 1, by_bytes), "");
}

TEST(Elide, LeavesOutWhatCannotBeShown) {
  EXPECT_EQ(elide("bucket", 1, by_bytes), "");
  EXPECT_EQ(elide("bucket", 0, by_bytes), "");
}

TEST(NiceTicks, AreRoundAndWithinTheRange) {
  EXPECT_EQ(nice_ticks(0, 236, 4), (std::vector<double>{0, 100, 200}));
  EXPECT_DOUBLE_EQ(nice_step(10, 5), 2);
  EXPECT_DOUBLE_EQ(nice_step(0, 5), 1);
  EXPECT_TRUE(nice_ticks(1, 1, 3).empty());
  EXPECT_DOUBLE_EQ(nice_binary_step(10, 3), 4);
}

}  // namespace

}  // namespace shardlens::ui::present
