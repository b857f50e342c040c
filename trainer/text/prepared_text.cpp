#include "trainer/text/prepared_text.h"

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trainer/text/byte_reader.h"
#include "trainer/text/image/content_hash.h"

namespace shardlens::trainer::text {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

// Of the rules by which texts become tokens: entries of the cache made by others are not used.
constexpr std::uint64_t kEncodingVersion = 3;

// Any name of a file, in JSON.
std::string hexadecimal_of(const fs::path& path) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : path.native()) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

Json basic_request(const char* what, const fs::path& tokenizer, const TextProgramOptions& options,
                   const TextProgram& program) {
  return {{"do", what},
          {"tokenizer", hexadecimal_of(tokenizer)},
          {"seconds", options.patience.count()},
          {"memory", program.memory_bytes()},
          {"parent", getpid()}};
}

trace::base::ErrorKind kind_named(const std::string& name) {
  using enum trace::base::ErrorKind;
  if (name == "usage") return kUsage;
  if (name == "missing") return kMissing;
  if (name == "damaged") return kDamaged;
  if (name == "disk") return kDiskFull;
  return name == "io" ? kIo : kFailed;
}

// What `read` makes of the program's reply, or why that refused. Any Python may have answered.
template <typename Read>
auto read_reply(const std::string& line, Read read)
    -> trace::base::Result<decltype(read(std::declval<const Json&>()))> {
  try {
    const Json reply = Json::parse(line);
    if (!reply.contains("error")) return read(reply);
    const Json& error = reply["error"];
    return trace::base::fail(kind_named(error.at("kind")), error.at("message"));
  } catch (const Json::exception&) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "the program that prepares texts answered nonsense");
  }
}

std::string name_of(const TextPlace& place, const std::string& data, const TextSource& source) {
  if (place.file == 0 || place.file > source.files.size()) return data;
  std::string name = source.files[place.file - 1].string();
  if (place.first_line > 0) name += ":" + std::to_string(place.first_line);
  if (place.last_line > place.first_line) name += " to " + std::to_string(place.last_line);
  return name;
}

TokenHeader header_of(const Json& done, std::uint64_t key) {
  TokenHeader header;
  header.key = key;
  header.kind = static_cast<TextKind>(done.at("kind").get<std::uint32_t>());
  header.has_mask = header.is_masked_kind() ? 1 : 0;
  done.at("token_bytes").get_to(header.token_bytes);
  done.at("tokens").get_to(header.tokens);
  done.at("examples").get_to(header.examples);
  done.at("notes_bytes").get_to(header.notes_bytes);
  done.at("messages_bytes").get_to(header.messages_bytes);
  done.at("tail_tokens").get_to(header.tail_tokens);
  done.at("end").get_to(header.end_of_text);
  done.at("padding").get_to(header.padding);
  done.at("bad_lines").get_to(header.counts.bad_lines);
  done.at("binary_files").get_to(header.counts.binary_files);
  done.at("crossed_boundaries").get_to(header.counts.crossed_boundaries);
  return header;
}

trace::base::Result<MappedImage> prepare(Json more, const std::string& data,
                                         const TextSource& source,
                                         const PreparationOptions& options,
                                         const TextProgramOptions& program_options,
                                         std::uint64_t key, TokenFile& image) {
  TRY_ASSIGN(TextProgram program, TextProgram::start(program_options, image.descriptor()));
  Json request = basic_request("encode", options.tokenizer, program_options, program);
  request.update(more);
  request.update({{"image", TextProgram::kImageDescriptor},
                  {"data", data},
                  {"chat", hexadecimal_of(options.chat)},
                  {"completion_only_loss", options.completion_only_loss},
                  {"classes", options.classes},
                  {"label_numbers", options.label_numbers},
                  {"skip_bad_lines", options.skip_bad_lines}});
  const auto line = program.ask(line_of(request));
  if (!line) {
    return trace::base::fail(line.error().kind, name_of(program.place(), data, source) + ": " +
                                                    line.error().message + ".");
  }
  TRY_ASSIGN(const TokenHeader header, read_reply(*line, [&](const Json& reply) {
               return header_of(reply.at("done"), key);
             }));
  return image.finish(header);
}

// Without what ends documents, and what is no byte.
std::string text_of_byte_tokens(std::span<const TokenId> tokens) {
  std::string text;
  for (const TokenId token : tokens) {
    if (token >= 0 && token < kEndOfBytes) text += static_cast<char>(token);
  }
  return text;
}

constexpr std::int64_t kMostClasses = 65536;

bool is_default_name(const std::pair<const std::string, std::int64_t>& entry) {
  return entry.first == "LABEL_" + std::to_string(entry.second);
}

}  // namespace

std::vector<TokenId> byte_tokens(std::string_view text) {
  std::vector<TokenId> tokens;
  tokens.reserve(text.size());
  for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  return tokens;
}

trace::base::Result<MappedImage> prepare_text(const std::string& data, const TextSource& source,
                                              const PreparationOptions& options,
                                              const TextProgramOptions& program, std::uint64_t key,
                                              TokenFile& image) {
  Json files = Json::array();
  for (const fs::path& file : source.files) files.push_back(hexadecimal_of(file));
  return prepare({{"files", files}, {"json_lines", source.json_lines}}, data, source, options,
                 program, key, image);
}

trace::base::Result<MappedImage> prepare_prompt(const std::string& text,
                                                const PreparationOptions& options,
                                                const TextProgramOptions& program,
                                                std::uint64_t key, TokenFile& image) {
  return prepare({{"prompt", text}}, "sample_prompt", {}, options, program, key, image);
}

trace::base::Result<std::uint64_t> fingerprint_of(const PreparationOptions& options) {
  ContentHash hash;
  hash.update_number(kEncodingVersion);
  hash.update_field(kTextProgram);
  hash.update_field(options.tokenizer.empty() ? "bytes" : "tokenizer");
  hash.update_field(options.chat.empty() ? "chatml" : "template");
  std::error_code error;
  const bool is_file = !fs::is_directory(options.tokenizer, error);
  const fs::path folder = is_file ? options.tokenizer.parent_path() : options.tokenizer;
  hash.update_field(is_file ? options.tokenizer.filename().string() : "");
  std::vector<fs::path> files{options.tokenizer};
  for (const char* name : {"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt",
                           "tokenizer_config.json", "special_tokens_map.json", "config.json"}) {
    files.push_back(options.tokenizer.empty() ? fs::path() : folder / name);
  }
  for (const char* name : {"chat_template.jinja", "additional_chat_templates/default.jinja",
                           "additional_chat_templates/tool_use.jinja", "tokenizer_config.json",
                           "special_tokens_map.json"}) {
    files.push_back(options.chat.empty() ? fs::path() : options.chat / name);
  }
  for (const fs::path& file : files) {
    std::string text;
    // Opening a pipe would wait for its writer.
    if (fs::is_regular_file(file, error)) {
      TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
      TRY_ASSIGN(text, reader.read_rest());
    }
    hash.update_field(text);
  }
  return hash.digest();
}

trace::base::Result<std::string> check_text_program(const TextProgramOptions& options) {
  TRY_ASSIGN(TextProgram program, TextProgram::start(options, /*image=*/-1));
  TRY_ASSIGN(const std::string line,
             program.ask(line_of(basic_request("check", {}, options, program))));
  return read_reply(line, [](const Json& reply) {
    const Json& done = reply.at("done");
    return done.at("python").get<std::string>() + " with " + done.at("packages").get<std::string>();
  });
}

trace::base::Result<void> TextDecoder::start() {
  TRY_ASSIGN(TextProgram program, TextProgram::start(program_options_, /*image=*/-1));
  TRY_ASSIGN(const std::string line,
             program.ask(line_of(basic_request("decode", tokenizer_, program_options_, program))));
  TRY(read_reply(line, [](const Json& reply) { return reply.at("done"); }));
  program_.emplace(std::move(program));
  return {};
}

trace::base::Result<std::string> TextDecoder::decode(std::span<const TokenId> tokens) {
  if (tokenizer_.empty()) return text_of_byte_tokens(tokens);
  if (!program_) TRY(start());
  TRY_ASSIGN(const std::string line,
             program_->ask(Json(std::vector<TokenId>(tokens.begin(), tokens.end())).dump()));
  return read_reply(line, [](const Json& reply) { return reply.at("text").get<std::string>(); });
}

trace::base::Result<std::map<std::string, std::int64_t>> read_label_numbers(
    const std::filesystem::path& model_folder) {
  const auto file = model_folder / "config.json";
  TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
  TRY_ASSIGN(const std::string text, reader.read_rest());
  const auto damaged = [&](std::string_view what) {
    return trace::base::fail(
        trace::base::ErrorKind::kDamaged,
        "The model's \"" + file.string() + "\" " + std::string(what) + ". Save the model again.");
  };
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return damaged("is not JSON");
  std::map<std::string, std::int64_t> numbers;
  simdjson::dom::object map;
  if (root["label2id"].get(map) != simdjson::SUCCESS) return numbers;
  for (const auto& [name, value] : map) {
    std::int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS || number < 0 || number >= kMostClasses) {
      return damaged("has a label2id whose numbers are no classes");
    }
    numbers.emplace(name, number);
  }
  if (std::ranges::all_of(numbers, is_default_name)) numbers.clear();
  return numbers;
}

}  // namespace shardlens::trainer::text
