"""Why positions: attention without them cannot read a number, with them it learns to add.

A small decoder-only transformer learns two-digit sums, written with the last
digit first (12+39= 15), and answers one token at a time with a key/value
cache: the token at hand stands at the position that is the number before it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phasor_tables.torch import SinusoidalPE

WORDS = "0123456789+="
D, HEADS, LAYERS = 32, 4, 2
SUM = 3  # digits of an answer


def tokens(text: str) -> Tensor:
    return torch.tensor([WORDS.index(c) for c in text])


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x: Tensor, cache: list) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2)
                   for part in self.qkv(self.attention_norm(x)).chunk(3, -1))
        before = 0
        if cache:
            before = cache[0].shape[2]
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        cache[:] = [k, v]
        scores = q @ k.transpose(2, 3) / (D // HEADS) ** 0.5
        later = torch.ones(length, before + length, dtype=torch.bool).triu(before + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, D))
        return x + self.mlp(self.mlp_norm(x))


class Adder(nn.Module):
    def __init__(self, positions: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), D)
        self.positions = SinusoidalPE(D) if positions else None
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, len(WORDS)))

    def forward(self, ids: Tensor, offset: int = 0, caches: list | None = None) -> Tensor:
        x = self.embedding(ids)
        if self.positions is not None:
            x = self.positions(x, offset)
        for block, cache in zip(self.blocks, caches or [[] for _ in self.blocks]):
            x = block(x, cache)
        return self.head(x)

    @torch.no_grad()
    def answer(self, prompts: Tensor) -> Tensor:
        """The answers, one token after another."""
        caches: list = [[] for _ in self.blocks]
        ids, offset, written = prompts, 0, []
        for _ in range(SUM):
            logits = self(ids, offset, caches)
            offset += ids.shape[1]
            ids = logits[:, -1:].argmax(-1)
            written.append(ids)
        return torch.cat(written, 1)


def sums(count: int, generator: torch.Generator) -> Tensor:
    """Sums in tokens: aa+bb=ccc, the answer's last digit first."""
    a, b = torch.randint(100, (2, count), generator=generator)
    digits = [a // 10, a % 10, None, b // 10, b % 10, None]
    digits += [(a + b) // 10**i % 10 for i in range(SUM)]
    return torch.stack([torch.full_like(a, WORDS.index("+="[i == 5])) if x is None else x
                        for i, x in enumerate(digits)], 1)


def seen_differently(positions: bool) -> float:
    """How differently one layer of attention sees two sums of the same digits."""
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(D, HEADS, batch_first=True).double()
    embedding = nn.Embedding(len(WORDS), D).double()
    place = SinusoidalPE(D) if positions else (lambda x: x)
    seen = []
    for text in ("321+654=", "123+456="):
        x = place(embedding(tokens(text))[None])
        seen.append(attention(x[:, -1:], x, x)[0])
    return (seen[0] - seen[1]).abs().max().item()


def main() -> None:
    without, with_rows = seen_differently(False), seen_differently(True)
    print(f"321+654= and 123+456= differ by {without:.1e} without positions, {with_rows:.1e} with")
    assert without < 1e-12 < 1e-3 < with_rows

    torch.set_num_threads(1)  # so small a model gains nothing from more
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    model = Adder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
    held_out = sums(200, torch.Generator().manual_seed(3))
    for step in range(1, 3001):
        batch = sums(128, generator)
        logits = model(batch[:, :-1])[:, -SUM:]
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, -SUM:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            right = (model.answer(held_out[:, :-SUM]) == held_out[:, -SUM:]).all(1)
            print(f"step {step}: loss {loss.item():.3f}, {right.float().mean().item():.1%} right")
            if right.float().mean() >= 0.98:
                break
    else:
        raise SystemExit("did not learn to add")

    # Row by row with a cache, or all at once: the same answer.
    whole = held_out.clone()
    answers = model.answer(held_out[:, :-SUM])
    whole[:, -SUM:] = answers
    assert torch.equal(model(whole[:, :-1])[:, -SUM:].argmax(-1), answers)
    text = "".join(WORDS[i] for i in held_out[0, :-SUM])
    print(text, "".join(WORDS[i] for i in answers[0].flip(0)))


if __name__ == "__main__":
    main()
