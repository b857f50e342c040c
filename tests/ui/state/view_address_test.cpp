// A view as text, and back.
#include "ui/state/view_address.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "ui/state/view_preferences.h"

namespace shardlens::ui::state {

namespace {

ViewAddress full() {
  ViewAddress address;
  address.workspace = "inspect";
  address.run = "2026-11-18T10-11-12 cap 1 & 'zwei' ü";
  address.tab = "Stragglers";
  address.shown = AddressRange{-5, 1'200'000'000'000};
  address.selected = AddressRange{7, 9};
  address.aligned_by_step = true;
  address.steps_of_rank = 3;
  address.step = 312;
  return address;
}

TEST(ViewAddress, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_address(address_text(full())), full());
  ViewAddress bare;
  bare.workspace = "tune";
  bare.run = "a";
  EXPECT_EQ(address_text(bare), "tune/a");
  EXPECT_EQ(parse_address("tune/a"), bare);
}

ViewAddress with_settings() {
  ViewAddress address;
  address.workspace = "tune";
  address.run = "cap 1";
  address.step = 4;
  address.settings = {{"bucket_cap_mb", "4"},
                      {"simulate_link", "latency_us=100,gbit_per_s=1"},
                      {"model", "/my models/ü & $more"}};
  return address;
}

ViewAddress of_compared_runs() {
  ViewAddress address;
  address.workspace = "compare";
  address.run = "slow, cap 1";
  address.others = {"b", "c & ü"};
  address.step = 7;
  return address;
}

TEST(ViewAddress, KeepsSettingsAndComparedRuns) {
  for (const ViewAddress& address : {with_settings(), of_compared_runs()}) {
    EXPECT_EQ(parse_address(address_text(address)), address) << address_text(address);
  }
}

TEST(ViewAddress, MayBeWrittenByHand) {
  ViewAddress address;
  address.workspace = "tune";
  address.run = "slow_link.shardlens";
  address.settings = {{"sharding_strategy", "full_shard"},
                      {"simulate_link", "latency_us=100,gbit_per_s=1"}};
  EXPECT_EQ(parse_address("tune/slow_link.shardlens?set=sharding_strategy=full_shard&"
                          "set=simulate_link=latency_us=100,gbit_per_s=1"),
            address);
}

TEST(ViewAddress, HasNothingThatAShellChanges) {
  for (const ViewAddress& address : {full(), with_settings(), of_compared_runs()}) {
    const std::string text = address_text(address);
    EXPECT_EQ(text.find_first_of(" '\"$`\\<>|;()"), std::string::npos) << text;
  }
}

TEST(ViewAddress, IsTakenWithTheCommandItWasCopiedWith) {
  EXPECT_EQ(parse_address("shardlens --view '" + address_text(full()) + "'\n"), full());
}

TEST(ViewAddress, SaysWhatIsWrong) {
  for (const char* text : {"",
                           "learn/a",
                           "tune/",
                           "inspect/a?shown_ns=9..7",
                           "inspect/a?shown_ns=7",
                           "inspect/a?step=-1",
                           "inspect/a?steps_of_rank=-1",
                           "inspect/a?step=x",
                           "inspect/a?ranks=x",
                           "inspect/a?colour=red",
                           "inspect/a?tab=",
                           "inspect/a?tab=kernels",
                           "tune/a?set=",
                           "tune/a?set==4",
                           "tune/a?set=bucket_cap_mb",
                           "tune/a?set=bucket_cap_mb=plenty",
                           "tune/a?set=bucket_cap_mb=-1",
                           "tune/a?set=colour=red",
                           "tune/a?set=sharding_strategy=none",
                           "tune/a?set=data=a%0Ab",
                           "tune/a?set=data=%FF",
                           "inspect/a?set=bucket_cap_mb=4",
                           "compare/",
                           "compare/a",
                           "compare/a,,b",
                           "compare/a,b,c,d,e,f,g",
                           "compare/a,b?set=bucket_cap_mb=4"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_NE(address.error().message.find("Ctrl+K"), std::string::npos);
  }
}

TEST(ViewAddress, NamesATabThatThereIs) {
  for (const std::string_view title : kInspectTabTitles) {
    const auto address = parse_address("inspect/a?tab=" + std::string(title));
    ASSERT_TRUE(address) << title;
    EXPECT_EQ(address->tab, title);
    EXPECT_EQ(tab_title(tab_of_title(title)), title);
  }
  for (const auto& [written, meant] :
       {std::pair{"Kernel", "Kernels"}, {"Strugglers", "Stragglers"}, {"sql", "SQL"}}) {
    const auto address = parse_address("inspect/a?tab=" + std::string(written));
    ASSERT_FALSE(address) << written;
    EXPECT_NE(address.error().message.find("there is no tab \"" + std::string(written) +
                                           "\", the nearest is \"" + meant + "\""),
              std::string::npos)
        << address.error().message;
  }
}

TEST(ViewAddress, IsNotReadBeyondItsLength) {
  for (const char* begin : {"tune/", "tune/a?set=", "tune/a?set=data=", "compare/a,"}) {
    const auto address = parse_address(begin + std::string(kLongestAddress, 'x'));
    ASSERT_FALSE(address) << begin;
    EXPECT_NE(address.error().message.find("longer than 16384 bytes"), std::string::npos);
    EXPECT_LT(address.error().message.size(), 500U);
  }
}

}  // namespace

}  // namespace shardlens::ui::state
