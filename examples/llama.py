"""A Llama of transformers generates the same tokens with Phasor's rotary module as with its own.

A small model with random weights, three times: plain, with Llama 3's scaling and with YaRN's. Its
prompts are of different lengths, padded on the left, so that the sequences of the batch stand at
different positions; a prefill, then a token a step from the key/value cache. What is compared:

- the tokens, chosen greedily, of both modules, and of each prompt alone, without padding;
- their logits. transformers computes angles in float32, Phasor rounds the exact values, so that
  the last bits differ: by far less than what one token leads the next by;
- the tokens of a module that counts from 0 whatever position it is asked for, as one that ignores
  the cache would: these do differ.

Then the model is cast to bfloat16, which rounds the frequencies of transformers' module.
Runs for a few seconds on one core; needs transformers 4.45 and torch 1.13 or later.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from phasor_tables import Llama3Scaling, YarnScaling
from phasor_tables.torch import RotaryEmbedding

HEAD, LENGTH, NEW_TOKENS, PAD = 16, 2048, 24, 0
PROMPT_LENGTHS = (40, 7, 23)
# Of transformers' configuration, and the same of Phasor's. These lengths make the scalings count.
SCALINGS = {
    "plain": (None, None),
    "llama3": (dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                    original_max_position_embeddings=64), Llama3Scaling(8, 1, 4, 64)),
    "yarn": (dict(rope_type="yarn", factor=4.0), YarnScaling(4, LENGTH)),
}


class CountsFromZero(RotaryEmbedding):
    """The classic fault: decoding, every token stands at position 0."""

    def forward(self, x, position_ids):
        return super().forward(x, position_ids - position_ids[:, :1])


def model_of(rope_scaling):
    torch.manual_seed(3)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=200, hidden_size=4 * HEAD, intermediate_size=96, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=LENGTH,
        rope_theta=10000.0, rope_scaling=rope_scaling, initializer_range=0.2,
        pad_token_id=PAD, bos_token_id=None, eos_token_id=None)).eval()


def put_rotary(model, rotary):
    model.model.rotary_emb = rotary
    for layer in model.model.layers:
        layer.self_attn.rotary_emb = rotary  # transformers up to 4.47 has one a layer as well


def padded(prompts):
    longest = max(map(len, prompts))
    ids = torch.stack([torch.nn.functional.pad(p, (longest - len(p), 0), value=PAD)
                       for p in prompts])
    return ids, (ids != PAD).long()


def generate(model, prompts):
    """The new tokens [B, n], and the logits [B, n, vocabulary] that they were chosen by."""
    ids, mask = padded(prompts)
    done = model.generate(ids, attention_mask=mask, max_new_tokens=NEW_TOKENS, do_sample=False,
                          return_dict_in_generate=True, output_logits=True)
    return done.sequences[:, ids.shape[1]:], torch.stack(done.logits, 1)


def compare(name, rope_scaling, scaling, prompts):
    model = model_of(rope_scaling)
    with torch.no_grad():
        tokens, logits = generate(model, prompts)
        put_rotary(model, RotaryEmbedding(HEAD, 10000.0, scaling=scaling))
        ours, our_logits = generate(model, prompts)
        alone = [generate(model, [prompt])[0][0] for prompt in prompts]
        put_rotary(model, CountsFromZero(HEAD, 10000.0, scaling=scaling))
        faulty, _ = generate(model, prompts)
    difference = (our_logits - logits).abs().max().item()
    best = logits.topk(2, dim=-1).values
    lead = (best[..., 0] - best[..., 1]).min().item()
    print(f"{name:7} {tokens.numel()} tokens, {len(tokens.unique())} different: "
          f"{(ours == tokens).sum().item()} the same with Phasor's module; logits differ by at most "
          f"{difference:.1e}, the least lead of a token is {lead:.1e}; "
          f"counting from 0 {(faulty == tokens).sum().item()} are the same")
    assert torch.equal(ours, tokens)
    assert all(torch.equal(a, b) for a, b in zip(alone, ours))
    assert difference < lead / 2
    assert not torch.equal(faulty, tokens)


def cast():
    """How far cosines are off at position 2000 in a model that was cast."""
    model = model_of(None).to(torch.bfloat16)
    x, position = torch.zeros(1, dtype=torch.bfloat16), torch.tensor([[2000]])
    exact = RotaryEmbedding(HEAD, 10000.0, dtype=torch.float64)(x, position)[0]
    off = {}
    for name, rotary in (("transformers'", model.model.rotary_emb),
                         ("Phasor's", RotaryEmbedding(HEAD, 10000.0).to(torch.bfloat16))):
        off[name] = (rotary(x, position)[0].double() - exact).abs().max().item()
        print(f"cast to bfloat16, cosines of {name} module are off by up to {off[name]:.4f}")
    assert off["Phasor's"] <= 2.0**-9  # half a unit in the last place


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(11)
    prompts = [torch.randint(1, 200, (length,), generator=generator) for length in PROMPT_LENGTHS]
    for name, (rope_scaling, scaling) in SCALINGS.items():
        compare(name, rope_scaling, scaling, prompts)
    cast()


if __name__ == "__main__":
    main()
