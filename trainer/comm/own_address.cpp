#include "trainer/comm/own_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>

namespace shardlens::trainer::comm {

namespace {

// Of RFC 5737 and RFC 3849, which are nobody's: what leads there leads to other networks.
constexpr const char* kElsewhere = "192.0.2.1";
constexpr const char* kElsewhereV6 = "2001:db8::1";

struct FreeAddresses {
  void operator()(addrinfo* all) const { freeaddrinfo(all); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// An address of this machine.
struct OwnAddress {
  std::string text;
  bool is_loopback = false;
};

// Connecting a socket of datagrams sends nothing, it only asks for the way.
std::optional<OwnAddress> on_the_way_to(const addrinfo& there) {
  const int descriptor = socket(there.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return {};
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  const bool has_way = connect(descriptor, there.ai_addr, there.ai_addrlen) == 0 &&
                       getsockname(descriptor, address, &size) == 0;
  close(descriptor);
  char text[NI_MAXHOST] = {};
  if (!has_way || getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  const std::string_view name = text;
  return OwnAddress{text, name.starts_with("127.") || name == "::1"};
}

std::optional<OwnAddress> on_the_way_to(const char* host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host, nullptr, &hints, &found) != 0) return {};
  const Addresses all(found);
  for (const addrinfo* each = all.get(); each; each = each->ai_next) {
    if (auto own = on_the_way_to(*each)) return own;
  }
  return {};
}

}  // namespace

trace::base::Result<std::string> own_address_towards(const std::string& host) {
  for (const char* there : {host.c_str(), kElsewhere, kElsewhereV6}) {
    const auto own = on_the_way_to(there);
    if (own && !own->is_loopback) return own->text;
  }
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "this machine has no address that ranks on other machines reach it at. "
                           "Set GLOO_SOCKET_IFNAME to the network interface that leads to them.");
}

}  // namespace shardlens::trainer::comm
