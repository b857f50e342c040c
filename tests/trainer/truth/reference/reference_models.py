"""Plain PyTorch versions of the two layouts, written from their definition, with Hugging Face's names."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Conv1D(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


def attend(query, key, value):
    """Causal attention of [batch, heads, time, width], spelled out."""
    time = query.size(2)
    groups = query.size(1) // key.size(1)
    key = key.repeat_interleave(groups, dim=1)
    value = value.repeat_interleave(groups, dim=1)
    scores = query @ key.transpose(2, 3) / math.sqrt(query.size(3))
    future = torch.ones(time, time, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ value


class Gpt2Attention(nn.Module):
    product = Conv1D

    def __init__(self, s):
        super().__init__()
        self.heads = s["heads"]
        self.c_attn = self.product(s["width"], 3 * s["width"])
        self.c_proj = self.product(s["width"], s["width"])

    def forward(self, x):
        batch, time, width = x.shape
        parts = self.c_attn(x).split(width, dim=2)
        q, k, v = (p.view(batch, time, self.heads, -1).transpose(1, 2) for p in parts)
        return self.c_proj(self.attend(q, k, v).transpose(1, 2).reshape(batch, time, width))

    def attend(self, query, key, value):
        return attend(query, key, value)


class Gpt2Mlp(nn.Module):
    product = Conv1D

    def __init__(self, s):
        super().__init__()
        self.c_fc = self.product(s["width"], s["mlp_width"])
        self.c_proj = self.product(s["mlp_width"], s["width"])

    def forward(self, x):
        return self.c_proj(self.activate(self.c_fc(x)))

    def activate(self, x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class Gpt2Block(nn.Module):
    attention, mlp_layer = Gpt2Attention, Gpt2Mlp

    def __init__(self, s):
        super().__init__()
        self.ln_1 = nn.LayerNorm(s["width"])
        self.attn = self.attention(s)
        self.ln_2 = nn.LayerNorm(s["width"])
        self.mlp = self.mlp_layer(s)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    block = Gpt2Block

    def __init__(self, s):
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(s["vocabulary"], s["width"]),
                "wpe": nn.Embedding(s["context"], s["width"]),
                "h": nn.ModuleList(self.block(s) for _ in range(s["layers"])),
                "ln_f": nn.LayerNorm(s["width"]),
            }
        )
        self.lm_head = nn.Linear(s["width"], s["vocabulary"], bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        t = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.size(1), device=tokens.device))
        for block in t["h"]:
            x = block(x)
        return self.lm_head(t["ln_f"](x))


class RmsNorm(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.epsilon = epsilon

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon)


def rotary_frequencies(s):
    width = s["width"] // s["heads"]
    frequencies = 1.0 / s["rotary_base"] ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    if s["rotary_factor"] == 0:
        return frequencies
    # transformers: _compute_llama3_parameters
    low, high = s["low_frequency_factor"], s["high_frequency_factor"]
    wave = 2 * math.pi / frequencies
    kept = (s["original_context"] / wave - low) / (high - low)
    blended = (1 - kept) * frequencies / s["rotary_factor"] + kept * frequencies
    result = torch.where(wave > s["original_context"] / low, frequencies / s["rotary_factor"], blended)
    return torch.where(wave < s["original_context"] / high, frequencies, result)


def rotate(x, frequencies):
    """Multiplies the pairs (i, i + width/2) by e^(i·position·frequency)."""
    half = x.size(-1) // 2
    angles = torch.outer(torch.arange(x.size(2), dtype=torch.float64), frequencies)
    turn = torch.polar(torch.ones_like(angles), angles).to(torch.complex64)
    pairs = torch.complex(x[..., :half], x[..., half:]) * turn
    return torch.cat([pairs.real, pairs.imag], dim=-1)


class LlamaAttention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.head_width = s["width"] // s["heads"]
        kv_width = s["kv_heads"] * self.head_width
        self.q_proj = nn.Linear(s["width"], s["width"], bias=False)
        self.k_proj = nn.Linear(s["width"], kv_width, bias=False)
        self.v_proj = nn.Linear(s["width"], kv_width, bias=False)
        self.o_proj = nn.Linear(s["width"], s["width"], bias=False)
        self.frequencies = rotary_frequencies(s)

    def forward(self, x):
        batch, time, width = x.shape
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (p(x).view(batch, time, -1, self.head_width).transpose(1, 2) for p in projections)
        mixed = attend(rotate(q, self.frequencies), rotate(k, self.frequencies), v)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, time, width))


class LlamaMlp(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.gate_proj = nn.Linear(s["width"], s["mlp_width"], bias=False)
        self.up_proj = nn.Linear(s["width"], s["mlp_width"], bias=False)
        self.down_proj = nn.Linear(s["mlp_width"], s["width"], bias=False)

    def forward(self, x):
        gate = self.gate_proj(x)
        return self.down_proj(gate * torch.sigmoid(gate) * self.up_proj(x))


class LlamaLayer(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.self_attn = LlamaAttention(s)
        self.mlp = LlamaMlp(s)
        self.input_layernorm = RmsNorm(s["width"], s["norm_epsilon"])
        self.post_attention_layernorm = RmsNorm(s["width"], s["norm_epsilon"])

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(s["vocabulary"], s["width"]),
                "layers": nn.ModuleList(LlamaLayer(s) for _ in range(s["layers"])),
                "norm": RmsNorm(s["width"], s["norm_epsilon"]),
            }
        )
        self.lm_head = nn.Linear(s["width"], s["vocabulary"], bias=False)
        if s["tied_head"]:
            self.lm_head.weight = self.model["embed_tokens"].weight

    def forward(self, tokens):
        x = self.model["embed_tokens"](tokens)
        for layer in self.model["layers"]:
            x = layer(x)
        return self.lm_head(self.model["norm"](x))


def cross_entropy(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
