#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/doctor/health_check.h"
#include "tests/files.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max open files            1024                 524288               files     \n"
    "Max locked memory         8388608              unlimited            bytes     \n";

TEST(SystemFacts, AreReadFromTheFilesOfTheKernel) {
  const trace::test::Folder folder;
  const SystemPlaces places{folder / "proc", folder / "sys", folder.path()};
  folder.write(places.proc / "self/limits", kLimits);
  folder.write(places.sys / "devices/system/clocksource/clocksource0/current_clocksource",
               "hpet\n");
  folder.write(places.proc / "77/comm", "trainer\n");
  const SystemFacts facts = read_system_facts(places);
  EXPECT_EQ(facts.open_files, 1024u);
  EXPECT_EQ(facts.open_files_most, 524288u);
  EXPECT_EQ(facts.locked_bytes, 8388608u);
  EXPECT_EQ(facts.clock_source, "hpet");
  EXPECT_GT(facts.shared_memory_bytes.value_or(0), 0);
  EXPECT_FALSE(facts.profiling_is_restricted);
  EXPECT_FALSE(facts.may_profile);
  EXPECT_EQ(process_name(places, 77), "trainer");
  EXPECT_EQ(process_name(places, 78), "");
}

TEST(SystemFacts, OfAMachineThatHidesItsFilesAreNotKnown) {
  const SystemFacts facts = read_system_facts({"/no/such", "/no/such", "/no/such"});
  EXPECT_FALSE(facts.open_files);
  EXPECT_FALSE(facts.locked_bytes);
  EXPECT_FALSE(facts.shared_memory_bytes);
  EXPECT_EQ(facts.clock_source, "");
  EXPECT_THAT(check_open_files(facts).finding, HasSubstr("not known"));
  EXPECT_EQ(check_open_files(facts).health, Health::kGood);
}

TEST(SystemHealth, LittleSharedMemoryIsALimitAndNoneIsSaid) {
  SystemFacts facts;
  EXPECT_THAT(check_shared_memory(facts, "/dev/shm").finding, HasSubstr("not there"));
  facts.shared_memory_bytes = 64.0 * (1 << 20);
  EXPECT_EQ(check_shared_memory(facts, "/dev/shm").health, Health::kLimited);
  EXPECT_THAT(check_shared_memory(facts, "/dev/shm").advice, HasSubstr("--shm-size=1g"));
  facts.shared_memory_bytes = 1e9;
  EXPECT_EQ(check_shared_memory(facts, "/dev/shm").health, Health::kGood);
}

TEST(SystemHealth, FewOpenFilesMayBeRaisedOnlyUpToTheHardLimit) {
  SystemFacts facts;
  facts.open_files = 1024;
  facts.open_files_most = 1048576;
  EXPECT_EQ(check_open_files(facts).health, Health::kLimited);
  EXPECT_THAT(check_open_files(facts).advice, HasSubstr("ulimit -n 4096"));
  facts.open_files_most = 2048;
  EXPECT_THAT(check_open_files(facts).advice, HasSubstr("--ulimit nofile"));
  facts.open_files = 4096;
  EXPECT_EQ(check_open_files(facts).health, Health::kGood);
  facts.open_files = kUnlimited;
  EXPECT_EQ(check_open_files(facts).finding, "without limit");
}

TEST(SystemHealth, LockedMemoryMattersAcrossMachines) {
  SystemFacts facts;
  facts.locked_bytes = 8ull << 20;
  EXPECT_EQ(check_locked_memory(facts).health, Health::kLimited);
  EXPECT_THAT(check_locked_memory(facts).advice, HasSubstr("On one machine nothing is needed"));
  facts.locked_bytes = kUnlimited;
  EXPECT_EQ(check_locked_memory(facts).finding, "without limit");
}

TEST(SystemHealth, AClockThatIsSlowToReadOrAloneIsSaid) {
  SystemFacts facts;
  facts.clock_source = "tsc";
  facts.is_synchronized = true;
  EXPECT_EQ(check_clock(facts).finding, "tsc, synchronized");
  EXPECT_EQ(check_clock(facts).health, Health::kGood);
  facts.is_synchronized = false;
  EXPECT_THAT(check_clock(facts).advice, HasSubstr("chrony"));
  facts.clock_source = "hpet";
  EXPECT_THAT(check_clock(facts).finding, HasSubstr("hpet"));
  EXPECT_THAT(check_clock(facts).advice, HasSubstr("clocksource=tsc"));
}

}  // namespace
}  // namespace shardlens::app::cli
