"""Small random models of every family that is supported, made by transformers: several configurations of each."""
import torch
import transformers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

COMMON = dict(vocab_size=320, bos_token_id=1, eos_token_id=2)
DECODER = dict(COMMON, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=80,
               max_position_embeddings=128)
ENCODER = dict(vocab_size=320, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80,
               max_position_embeddings=66)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64, rope_theta=1000.0)
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32, rope_theta=1000.0)


def gpt2(**settings):
    return transformers.GPT2Config(**{**COMMON, "n_embd": 48, "n_layer": 3, "n_head": 4, "n_positions": 128, **settings})


def llama(**settings):
    return transformers.LlamaConfig(**{**DECODER, "num_key_value_heads": 2, **settings})


def qwen2(**settings):
    return transformers.Qwen2Config(**{**DECODER, "num_key_value_heads": 2, **settings})


def qwen3(**settings):
    return transformers.Qwen3Config(**{**DECODER, "num_key_value_heads": 2, "head_dim": 16, **settings})


def mistral(**settings):
    return transformers.MistralConfig(**{**DECODER, "num_key_value_heads": 2, "sliding_window": None, **settings})


def bert(**settings):
    return transformers.BertConfig(**{**ENCODER, "num_labels": 3, **settings})


def roberta(**settings):
    return transformers.RobertaConfig(**{**ENCODER, "num_labels": 3, "type_vocab_size": 1, **settings})


# Of each family: a name, the configuration and how it is saved.
CASES = {
    "gpt2": [("plain", gpt2(), {}),
             ("gelu, n_inner", gpt2(activation_function="gelu", n_inner=100), {}),
             ("relu, untied", gpt2(activation_function="relu", tie_word_embeddings=False), {}),
             ("unscaled, by layer", gpt2(scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True), {}),
             ("bare model", gpt2(), dict(bare=True)),
             ("shards in bf16", gpt2(), dict(dtype=torch.bfloat16, max_shard_size="60KB"))],
    "llama": [("grouped heads", llama(), {}),
              ("tied", llama(tie_word_embeddings=True), {}),
              ("biases, padding token", llama(attention_bias=True, mlp_bias=True, pad_token_id=5), {}),
              ("llama3 positions", llama(rope_parameters=LLAMA3), {}),
              ("linear positions", llama(rope_parameters=dict(rope_type="linear", factor=3.0, rope_theta=500.0)), {}),
              ("dynamic positions", llama(rope_parameters=dict(rope_type="dynamic", factor=3.0, rope_theta=1e4)), {}),
              ("yarn positions", llama(rope_parameters=YARN), {}),
              ("yarn, not truncated", llama(rope_parameters=dict(YARN, truncate=False, beta_fast=8.0, mscale=0.7,
                                                                 mscale_all_dim=0.5)), {}),
              ("wide heads", llama(head_dim=20), {}),
              ("shards in fp16", llama(), dict(dtype=torch.float16, max_shard_size="60KB"))],
    "qwen2": [("plain", qwen2(), {}),
              ("tied", qwen2(tie_word_embeddings=True), {}),
              ("window in the last layers", qwen2(use_sliding_window=True, sliding_window=7, max_window_layers=1), {})],
    "qwen3": [("plain", qwen3(), {}),
              ("tied, biases", qwen3(tie_word_embeddings=True, attention_bias=True), {}),
              ("bf16", qwen3(), dict(dtype=torch.bfloat16))],
    "mistral": [("window", mistral(sliding_window=9), {}),
                ("no window, head_dim", mistral(head_dim=16), {}),
                ("window longer than the sequence", mistral(sliding_window=4096, tie_word_embeddings=True), {})],
    "bert": [("plain", bert(), {}),
             ("masked LM", bert(), dict(auto=transformers.BertForMaskedLM)),
             ("bare encoder", bert(), dict(auto=transformers.BertModel)),
             ("relu, fp16", bert(hidden_act="relu"), dict(dtype=torch.float16))],
    "roberta": [("plain", roberta(), {}),
                ("masked LM", roberta(num_labels=2), dict(auto=transformers.RobertaForMaskedLM)),
                ("bare encoder", roberta(), dict(auto=transformers.RobertaModel))],
}


def is_encoder(family):
    return family in ("bert", "roberta")


def classes(family, save):
    trained = (transformers.AutoModelForSequenceClassification if is_encoder(family)
               else transformers.AutoModelForCausalLM)
    return save.get("auto"), trained


def make(family, config, save, folder):
    """Saves a random model of the configuration in `folder`."""
    torch.manual_seed(1)
    auto, trained = classes(family, save)
    model = auto(config) if auto else trained.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            # Initial biases of 0 and scales of 1 would hide where they are applied.
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model = model.to(save.get("dtype", torch.float32))
    saved = model.base_model if save.get("bare") else model
    saved.save_pretrained(folder, max_shard_size=save.get("max_shard_size", "5GB"))


def load(family, folder):
    _, trained = classes(family, {})
    return trained.from_pretrained(folder, dtype=torch.float32)


class Logits(torch.nn.Module):
    """Of tokens alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(input_ids=tokens, use_cache=False).logits
