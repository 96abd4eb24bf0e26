"""BERT- and GPT-2-shaped models with a learned table of positions.

Their tables are 512 and 1024 rows, start from N(0, 0.02), and know nothing past
their end. The same seed gives the same start in every language and on every
worker, without a checkpoint to ship.
"""

import hashlib

import torch
from torch import Tensor, nn

from phasor_tables.errors import OutOfRange
from phasor_tables.torch import LearnedPE

WORDS, D = 100, 64


class Model(nn.Module):
    """Two layers between an embedding and a head; `causal`: each token sees those before it."""

    def __init__(self, max_len: int, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.words = nn.Embedding(WORDS, D)
        self.positions = LearnedPE(max_len, D, seed=7)
        layer = nn.TransformerEncoderLayer(D, 4, 4 * D, dropout=0.0, activation="gelu",
                                           batch_first=True, norm_first=causal)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(D, WORDS)

    def forward(self, ids: Tensor, offset: int = 0) -> Tensor:
        x = self.positions(self.words(ids), offset)
        length = ids.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1) if self.causal else None
        return self.head(self.body(x, mask))


def train(model: Model, ids: Tensor, wanted: Tensor, steps: int) -> tuple[float, float]:
    """The loss before and after."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[0], losses[-1]


def main() -> None:
    torch.set_num_threads(1)  # so small a model gains nothing from more
    torch.manual_seed(0)
    text = torch.randint(WORDS, (8, 33))
    for name, max_len, causal in (("BERT", 512, False), ("GPT-2", 1024, True)):
        model = Model(max_len, causal)
        start = model.positions.weight.detach().clone()
        digest = hashlib.sha256(start.numpy().tobytes()).hexdigest()[:16]
        # GPT-2 says the next word, BERT the words behind the masks (here word 0).
        ids = text[:, :-1] if causal else text[:, 1:].masked_fill(torch.rand(8, 32) < 0.15, 0)
        before, after = train(model, ids, text[:, 1:], 60)
        print(f"{name}-shaped: table {digest}, loss {before:.2f} -> {after:.2f}")
        assert after < before / 2

        # Rows that no text reached are as they were; the last row is there, the one after not.
        moved = (model.positions.weight.detach() != start).any(1)
        assert moved[:32].all() and not moved[32:].any()
        model(text[:1, :1], offset=max_len - 1)
        try:
            model(text[:1, :2], offset=max_len - 1)
        except OutOfRange as error:
            print(f"  {error}")
        else:
            raise SystemExit("a row past the end was given")


if __name__ == "__main__":
    main()
