// A folder of files for one test, and its end. For tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace shardlens::trainer::text {

class TextFiles {
 public:
  TextFiles()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                (std::string("text of ") +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TextFiles() { std::filesystem::remove_all(folder_); }
  TextFiles(const TextFiles&) = delete;
  TextFiles& operator=(const TextFiles&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string write(const std::string& name, const std::string& text) const {
    const auto file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace shardlens::trainer::text
