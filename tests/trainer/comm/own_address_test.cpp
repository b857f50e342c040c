#include "trainer/comm/own_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <memory>
#include <set>

namespace shardlens::trainer::comm {
namespace {

// What the system lists, by another way than the one that is tested.
std::set<std::string> addresses_of_this_machine() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(found, &freeifaddrs);
  std::set<std::string> addresses;
  for (const ifaddrs* each = all.get(); each; each = each->ifa_next) {
    const bool is_used = each->ifa_addr && each->ifa_addr->sa_family == AF_INET &&
                         (each->ifa_flags & IFF_UP) && !(each->ifa_flags & IFF_LOOPBACK);
    char text[NI_MAXHOST] = {};
    if (is_used && getnameinfo(each->ifa_addr, sizeof(sockaddr_in), text, sizeof text, nullptr, 0,
                               NI_NUMERICHOST) == 0) {
      addresses.insert(text);
    }
  }
  return addresses;
}

TEST(OwnAddress, TowardsItselfIsThatAddress) {
  for (const std::string& address : addresses_of_this_machine()) {
    const auto own = own_address_towards(address);
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_EQ(*own, address);
  }
}

// As on a machine whose name stands for 127.0.1.1.
TEST(OwnAddress, IsNeverOneThatOnlyTheMachineItselfReaches) {
  for (const char* host : {"127.0.0.1", "127.0.1.1", "localhost", "::1", ""}) {
    const auto own = own_address_towards(host);
    if (own) {
      EXPECT_THAT(addresses_of_this_machine(), testing::Contains(*own)) << host;
    } else {
      EXPECT_THAT(own.error().message, testing::HasSubstr("GLOO_SOCKET_IFNAME"));
    }
  }
}

}  // namespace
}  // namespace shardlens::trainer::comm
