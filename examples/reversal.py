"""An encoder and a decoder with one table: a small translation model learns to reverse.

Both sides count from 0 and read the same rows, as in Vaswani et al. 2017: one
SinusoidalPE, which has no state, serves both.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from phasor_tables.torch import SinusoidalPE

SYMBOLS, LENGTH, D = 10, 6, 48
START = SYMBOLS


class Reverser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS + 1, D)
        self.positions = SinusoidalPE(D)
        self.body = nn.Transformer(D, nhead=4, num_encoder_layers=1, num_decoder_layers=1,
                                   dim_feedforward=4 * D, dropout=0.0, batch_first=True)
        self.head = nn.Linear(D, SYMBOLS)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        return self.head(self.body(self.positions(self.embedding(source)),
                                   self.positions(self.embedding(target)), tgt_mask=mask))

    @torch.no_grad()
    def translate(self, source: Tensor) -> Tensor:
        target = torch.full((len(source), 1), START)
        for _ in range(source.shape[1]):
            target = torch.cat([target, self(source, target)[:, -1:].argmax(-1)], 1)
        return target[:, 1:]


def main() -> None:
    torch.set_num_threads(1)  # so small a model gains nothing from more
    torch.manual_seed(0)
    model = Reverser()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    held_out = torch.randint(SYMBOLS, (200, LENGTH))
    for step in range(1, 2001):
        source = torch.randint(SYMBOLS, (64, LENGTH))
        wanted = source.flip(1)
        target = torch.cat([torch.full((64, 1), START), wanted[:, :-1]], 1)
        loss = F.cross_entropy(model(source, target).flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            model.eval()
            right = (model.translate(held_out) == held_out.flip(1)).all(1).float().mean().item()
            model.train()
            print(f"step {step}: loss {loss.item():.3f}, {right:.1%} reversed")
            if right >= 0.98:
                break
    else:
        raise SystemExit("did not learn to reverse")
    assert not any("positions" in name for name in model.state_dict())


if __name__ == "__main__":
    main()
