"""Small model folders as they come from the Hugging Face hub, with any values: for tests that ask what a model costs."""
import json
import math
import random
import struct


def _gpt2(c):
    width, inner = c['n_embd'], c['n_inner']
    yield 'transformer.wte.weight', [c['vocab_size'], width]
    yield 'transformer.wpe.weight', [c['n_positions'], width]
    for block in range(c['n_layer']):
        for name, sizes in [('ln_1', [width]), ('attn.c_attn', [width, 3 * width]), ('attn.c_proj', [width, width]),
                            ('ln_2', [width]), ('mlp.c_fc', [width, inner]), ('mlp.c_proj', [inner, width])]:
            yield f'transformer.h.{block}.{name}.weight', sizes
            yield f'transformer.h.{block}.{name}.bias', sizes[-1:]
    yield 'transformer.ln_f.weight', [width]
    yield 'transformer.ln_f.bias', [width]


def _llama(c):
    width, inner = c['hidden_size'], c['intermediate_size']
    keys = width // c['num_attention_heads'] * c['num_key_value_heads']
    yield 'model.embed_tokens.weight', [c['vocab_size'], width]
    for block in range(c['num_hidden_layers']):
        for name, sizes in [('self_attn.q_proj', [width, width]), ('self_attn.k_proj', [keys, width]),
                            ('self_attn.v_proj', [keys, width]), ('self_attn.o_proj', [width, width]),
                            ('mlp.gate_proj', [inner, width]), ('mlp.up_proj', [inner, width]),
                            ('mlp.down_proj', [width, inner]), ('input_layernorm', [width]),
                            ('post_attention_layernorm', [width])]:
            yield f'model.layers.{block}.{name}.weight', sizes
    yield 'model.norm.weight', [width]


def _bert(c):
    width, inner = c['hidden_size'], c['intermediate_size']
    for table, rows in [('word', c['vocab_size']), ('position', c['max_position_embeddings']), ('token_type', 2)]:
        yield f'bert.embeddings.{table}_embeddings.weight', [rows, width]
    layers = [('bert.embeddings.LayerNorm', [width])]
    for block in range(c['num_hidden_layers']):
        layers += [(f'bert.encoder.layer.{block}.{name}', sizes) for name, sizes in [
            ('attention.self.query', [width, width]), ('attention.self.key', [width, width]),
            ('attention.self.value', [width, width]), ('attention.output.dense', [width, width]),
            ('attention.output.LayerNorm', [width]), ('intermediate.dense', [inner, width]),
            ('output.dense', [width, inner]), ('output.LayerNorm', [width])]]
    layers += [('bert.pooler.dense', [width, width]), ('classifier', [c['num_labels'], width])]
    for name, sizes in layers:
        yield f'{name}.weight', sizes
        yield f'{name}.bias', sizes[:1]


_FAMILIES = {'gpt2': _gpt2, 'llama': _llama, 'bert': _bert}


def write(folder, model_type, **config):
    """`config` is config.json's; without a head of its own unless `tie_word_embeddings` is False."""
    config['model_type'] = model_type
    shapes = dict(_FAMILIES[model_type](config))
    if config.get('tie_word_embeddings') is False:
        shapes['lm_head.weight'] = next(iter(shapes.values()))
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [begin, end]}
    text = json.dumps(header).encode()
    numbers = random.Random(1)
    pattern = struct.pack('<1009f', *(numbers.gauss(0, 0.02) for _ in range(1009)))
    folder.mkdir(parents=True)
    (folder / 'config.json').write_text(json.dumps(config))
    with open(folder / 'model.safetensors', 'wb') as weights:
        weights.write(struct.pack('<Q', len(text)) + text)
        weights.write((pattern * (end // len(pattern) + 1))[:end])
