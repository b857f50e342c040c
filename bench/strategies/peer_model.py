"""The GPT-2 layout as somebody who wants speed writes it in PyTorch: fused attention, activation and products."""
import torch
from torch.nn import functional as F

import reference_models


class Conv1D(reference_models.Conv1D):
    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class Attention(reference_models.Gpt2Attention):
    product = Conv1D

    def attend(self, query, key, value):
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)


class Mlp(reference_models.Gpt2Mlp):
    product = Conv1D

    def activate(self, x):
        return F.gelu(x, approximate="tanh")


class Block(reference_models.Gpt2Block):
    attention, mlp_layer = Attention, Mlp


class Gpt2(reference_models.Gpt2):
    block = Block

    def __init__(self, shape, widens_logits=False):
        """`widens_logits`: to fp32 before the loss, as transformers does. Else autocast keeps log-probabilities in 16 bits."""
        super().__init__(shape)
        self.widens_logits = widens_logits
        if not shape.get("tied_head", True):
            self.lm_head = torch.nn.Linear(shape["width"], shape["vocabulary"], bias=False)

    def forward(self, tokens, targets):
        logits = super().forward(tokens).flatten(0, 1)
        return F.cross_entropy(logits.float() if self.widens_logits else logits, targets.flatten())
