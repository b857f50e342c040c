// A view as text, and back.
#include "ui/state/view_address.h"

#include <gtest/gtest.h>

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

TEST(ViewAddress, HasNothingThatAShellChanges) {
  const std::string text = address_text(full());
  EXPECT_EQ(text.find_first_of(" '\"$`\\<>|;()"), std::string::npos);
}

TEST(ViewAddress, IsTakenWithTheCommandItWasCopiedWith) {
  EXPECT_EQ(parse_address("shardlens --view '" + address_text(full()) + "'\n"), full());
}

TEST(ViewAddress, SaysWhatIsWrong) {
  for (const char* text :
       {"", "learn/a", "tune/", "inspect/a?shown_ns=9..7", "inspect/a?shown_ns=7",
        "inspect/a?step=-1", "inspect/a?steps_of_rank=-1", "inspect/a?step=x", "inspect/a?ranks=x",
        "inspect/a?colour=red"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_NE(address.error().message.find("Ctrl+K"), std::string::npos);
  }
}

}  // namespace

}  // namespace shardlens::ui::state
