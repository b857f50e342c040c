// Model folders: configuration, tokenizer, chat template, weights.
#include <array>
#include <map>

#include "bench/fuzz/small_tokenizers.h"
#include "bench/fuzz/subject.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/huggingface/weight_files.h"
#include "trainer/text/load_text.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigs[] = {
    R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "hidden_act": "silu",
  "head_dim": 8, "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 1024,
  "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2,
  "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
  "low_freq_factor": 1.0, "original_max_position_embeddings": 256, "rope_type": "llama3"},
  "rope_theta": 500000.0, "tie_word_embeddings": true, "vocab_size": 300})",
    R"({"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
  "bos_token_id": 13, "eos_token_id": 13, "layer_norm_epsilon": 1e-05, "n_ctx": 64, "n_embd": 32,
  "n_head": 4, "n_layer": 2, "n_positions": 64, "vocab_size": 300})",
    R"({"architectures": ["BertForSequenceClassification"], "hidden_act": "gelu", "hidden_size": 32,
  "intermediate_size": 64, "layer_norm_eps": 1e-12, "max_position_embeddings": 64, "model_type":
  "bert", "num_attention_heads": 4, "num_hidden_layers": 2, "pad_token_id": 0, "type_vocab_size": 2,
  "vocab_size": 300, "id2label": {"0": "bad", "1": "good"}, "label2id": {"bad": 0, "good": 1}})"};

constexpr std::string_view kTokenizerConfig =
    R"({"add_bos_token": true, "bos_token": "<s>", "eos_token": {"content": "<|end|>", "lstrip": false},
  "pad_token": null, "model_max_length": 1000000000000000019884624838656,
  "added_tokens_decoder": {"13": {"content": "<|end|>", "special": true}},
  "chat_template": [{"name": "default", "template": "{{ bos_token }}{% for m in messages %}{{ m.role + m['content'] | trim }}{% endfor %}"}],
  "tokenizer_class": "PreTrainedTokenizerFast"})";

constexpr std::string_view kTemplate =
    R"({%- macro turn(m, n=1) -%}<|{{ m['role'] | upper }}|>{{ m.content | trim | replace('a', 'b') }}{%- endmacro -%}
{%- set ns = namespace(found=false, count=0) -%}
{%- for m in messages if m.role != 'system' -%}
{%- set ns.count = ns.count + loop.index0 * 2 -%}
{%- if loop.first and not ns.found -%}{{ bos_token }}{{ '%s-%d' % ('x', ns.count) }}
{%- elif m.tools is defined and m.tools -%}{{ m.tools | tojson(indent=2) }}
{%- else -%}{{ m.content.split('.')[-1:] | join(', ') ~ range(3) | list | length }}{%- endif -%}
{{ turn(m) }}{{ '<|end|>\n' if m.role == 'assistant' else '\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif -%}
{%- if messages | selectattr('role', 'equalto', 'tool') | list | length > 3 %}{{ raise_exception('no') }}{% endif -%})";

constexpr std::string_view kMessages =
    R"({"messages": [{"role": "system", "content": "be"}, {"role": "user", "content": "hello w\u00f6rld"},
        {"role": "assistant", "content": "<s> ab  <|end|>\n\u7684 12"}]})";

std::string weights(std::string_view tensor) {
  trainer::checkpoint::FileLayout file;
  file.tensors = {{std::string(tensor), trainer::checkpoint::DataType::kBF16, {4, 2}},
                  {"ln.bias", trainer::checkpoint::DataType::kF32, {3}},
                  {"none", trainer::checkpoint::DataType::kI64, {0, 2}}};
  file.metadata = {{"format", "pt"}};
  file.encode();
  return file.header + std::string(static_cast<std::size_t>(file.tensors.back().end), 'w');
}

// A length of 8 bytes, then that much JSON, then the tensors.
std::string with_damaged_header(std::string file, Mutation& mutation) {
  constexpr std::size_t kLength = 8;
  const std::size_t json = file.find("}}");
  if (file.size() < kLength || json == std::string::npos) return file;
  const std::string header = mutation.json(file.substr(kLength, json + 2 - kLength));
  std::uint64_t length = header.size();
  if (mutation.one_in(8)) length = static_cast<std::uint64_t>(mutation.integer());
  std::string out;
  for (std::size_t i = 0; i < kLength; ++i) out += static_cast<char>(length >> 8 * i & 0xff);
  return out + header + file.substr(json + 2);
}

class ModelFolderSubject final : public Subject {
 public:
  std::string_view name() const override { return "models"; }
  int weight() const override { return 2; }  // each starts Python
  trace::base::Result<void> prepare(const fs::path& folder) override {
    data_ = folder / "turns.jsonl";
    std::string line(kMessages);
    std::erase(line, '\n');
    write_text_file(data_, line + "\n");
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    std::map<std::string, std::string> files = whole_folder(mutation);
    const std::string name =
        std::next(files.begin(), static_cast<std::ptrdiff_t>(mutation.below(files.size())))->first;
    std::string& text = files[name];
    if (name.ends_with(".json")) {
      text = mutation.json(std::move(text));
    } else if (name.ends_with(".safetensors") && !mutation.one_in(4)) {
      text = with_damaged_header(std::move(text), mutation);
    } else {
      text = mutation.bytes(std::move(text));
    }
    for (const auto& [file, content] : files) write_text_file(input / file, content);
    if (mutation.one_in(50)) mutation.replace_file(input / name);
  }

  void read(const fs::path& input, const fs::path&, Findings& findings) override {
    findings.check(trace::job::find_planned_model(input));
    const auto opened = trainer::huggingface::open_weight_files(input);
    if (findings.check(opened)) {
      for (const auto& file : *opened) read_tensors(file, findings);
    }
    trainer::text::TextOptions options;
    options.data = data_;
    options.preparation.tokenizer = options.preparation.chat = input;
    options.program.patience = std::chrono::seconds(5);
    findings.check(trainer::text::load_text(options, {}));
  }

 private:
  static std::map<std::string, std::string> whole_folder(Mutation& mutation) {
    const std::array tokenizers{kByteLevelJson, kSentencePieceJson, kWordPieceJson, kUnigramJson};
    std::map<std::string, std::string> files;
    files["config.json"] = mutation.pick(kConfigs);
    files["tokenizer_config.json"] = kTokenizerConfig;
    files["special_tokens_map.json"] = R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})";
    if (mutation.one_in(4)) {
      files["vocab.json"] = R"({"h": 0, "e": 1, "l": 2, "he": 3, "ll": 4})";
      files["merges.txt"] = "#version: 0.2\nh e\nl l\n";
    } else if (mutation.one_in(4)) {
      files["vocab.txt"] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhe\n##l\no\n";
    } else {
      files["tokenizer.json"] = mutation.pick(tokenizers);
    }
    if (mutation.one_in(2)) files["chat_template.jinja"] = kTemplate;
    if (mutation.one_in(2)) {
      files[trainer::huggingface::kWeightsFile] = weights("wte.weight");
    } else {
      files["one.safetensors"] = weights("wte.weight");
      files[trainer::huggingface::kIndexFile] =
          R"({"metadata": {"total_size": 28}, "weight_map": {"wte.weight": "one.safetensors",
              "ln.bias": "one.safetensors", "none": "one.safetensors"}})";
    }
    return files;
  }

  static void read_tensors(const trainer::checkpoint::SafetensorsFile& file, Findings& findings) {
    for (const auto& tensor : file.tensors()) {
      constexpr std::int64_t kMost = 1 << 16;
      const std::int64_t count = std::min(tensor.numel(), kMost);
      std::vector<std::byte> bytes(
          static_cast<std::size_t>(count * trainer::checkpoint::bytes_of(tensor.type)));
      findings.check(file.read(tensor, tensor.numel() - count, bytes));
    }
  }

  fs::path data_;
};

}  // namespace

std::unique_ptr<Subject> model_folder_subject() { return std::make_unique<ModelFolderSubject>(); }

}  // namespace shardlens::bench
