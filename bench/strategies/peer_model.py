"""The GPT-2 layout as somebody who wants speed writes it in PyTorch: fused attention, activation and products."""
import torch
from torch import nn
from torch.nn import functional as F


class Conv1D(nn.Module):
    """As Hugging Face's: weights [in, out]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.heads = shape["heads"]
        self.c_attn = Conv1D(shape["width"], 3 * shape["width"])
        self.c_proj = Conv1D(shape["width"], shape["width"])

    def forward(self, x):
        batch, time, width = x.shape
        query, key, value = (part.view(batch, time, self.heads, -1).transpose(1, 2)
                             for part in self.c_attn(x).split(width, dim=2))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.c_proj(mixed.transpose(1, 2).reshape(batch, time, width))


class Mlp(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.c_fc = Conv1D(shape["width"], shape["mlp_width"])
        self.c_proj = Conv1D(shape["mlp_width"], shape["width"])

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.ln_1 = nn.LayerNorm(shape["width"])
        self.attn = Attention(shape)
        self.ln_2 = nn.LayerNorm(shape["width"])
        self.mlp = Mlp(shape)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(shape["vocabulary"], shape["width"]),
            "wpe": nn.Embedding(shape["context"], shape["width"]),
            "h": nn.ModuleList(Block(shape) for _ in range(shape["layers"])),
            "ln_f": nn.LayerNorm(shape["width"]),
        })
        self.lm_head = nn.Linear(shape["width"], shape["vocabulary"], bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens, targets):
        parts = self.transformer
        x = parts["wte"](tokens) + parts["wpe"](torch.arange(tokens.size(1), device=tokens.device))
        for block in parts["h"]:
            x = block(x)
        logits = self.lm_head(parts["ln_f"](x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
