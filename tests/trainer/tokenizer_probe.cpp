// Encodes texts and decodes their tokens, for comparison with the `tokenizers` package.
//   tokenizer_probe <tokenizer> <texts> <tokens>
//   tokenizer_probe <tokenizer> <texts> time <repeats>
// <texts>: a count of texts, then for each its size in bytes and its bytes. <tokens>: for each
// text, without and with special tokens, the count and the ids; then, of the latter, with and
// without special tokens, size and bytes of the decoded text. Numbers are little-endian, of 32
// bits.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

#include "trainer/tokenizer/load_tokenizer.h"

using shardlens::trainer::TokenId;
using shardlens::trainer::Tokenizer;

namespace {

std::string read(const char* name) {
  std::ifstream stream(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::uint32_t take_number(std::string_view& bytes) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return number;
}

std::vector<std::string_view> texts_in(std::string_view bytes) {
  std::vector<std::string_view> texts(take_number(bytes));
  for (std::string_view& text : texts) {
    const std::uint32_t size = take_number(bytes);
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return texts;
}

void put_number(std::size_t number, std::string& out) {
  const auto small = static_cast<std::uint32_t>(number);
  out.append(reinterpret_cast<const char*>(&small), sizeof small);
}

void put_text(std::string_view text, std::string& out) {
  put_number(text.size(), out);
  out.append(text);
}

std::string tokenize(const Tokenizer& tokenizer, const std::vector<std::string_view>& texts) {
  std::string out;
  for (const std::string_view text : texts) {
    std::vector<TokenId> tokens;
    for (const bool special : {false, true}) {
      tokens.clear();
      tokenizer.encode(text, special, tokens);
      put_number(tokens.size(), out);
      out.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(TokenId));
    }
    for (const bool skip : {false, true}) put_text(tokenizer.decode(tokens, skip), out);
  }
  return out;
}

// The best of `repeats`, in time of the processor: other programs do not count.
void measure(const Tokenizer& tokenizer, const std::vector<std::string_view>& texts, int repeats) {
  double best = 1e30;
  std::size_t bytes = 0, count = 0;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    std::vector<TokenId> tokens;
    bytes = count = 0;
    for (const std::string_view text : texts) {
      tokens.clear();
      tokenizer.encode(text, false, tokens);
      bytes += text.size();
      count += tokens.size();
    }
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("{\"megabytes_per_second\": %.3f, \"tokens\": %zu}\n",
              static_cast<double>(bytes) / 1e6 / best, count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto tokenizer = shardlens::trainer::load_tokenizer(argv[1]);
  if (!tokenizer) {
    std::cerr << tokenizer.error().message << "\n";
    return 1;
  }
  const std::string bytes = read(argv[2]);
  const auto texts = texts_in(bytes);
  if (argc == 5) {
    measure(**tokenizer, texts, std::atoi(argv[4]));
    return 0;
  }
  const std::string tokens = tokenize(**tokenizer, texts);
  std::ofstream(argv[3], std::ios::binary)
      .write(tokens.data(), static_cast<std::streamsize>(tokens.size()));
  const auto shown = [](std::optional<TokenId> id) { return id ? std::to_string(*id) : "null"; };
  std::cout << "{\"vocabulary\": " << (*tokenizer)->vocabulary()
            << ", \"begin\": " << shown((*tokenizer)->begin_of_text())
            << ", \"end\": " << shown((*tokenizer)->end_of_text())
            << ", \"padding\": " << shown((*tokenizer)->padding()) << "}\n";
  return 0;
}
