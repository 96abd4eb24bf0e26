"""The usual recipe of sinusoidal rows in NumPy, computed in float64 and kept in float32.

Makes a table again for each line of input, "whole" or "chunks", and prints the seconds.
"""

import sys
import time

import numpy as np

CHUNK = 256


def fill(out, first, frequencies):
    """Rows `first` ... of the table."""
    angles = np.arange(first, first + len(out))[:, None] * frequencies
    out[:, 0::2] = np.sin(angles)
    out[:, 1::2] = np.cos(angles)


def main():
    rows, width = int(sys.argv[1]), int(sys.argv[2])
    frequencies = np.power(10000.0, -np.arange(0, width, 2) / width)
    out = np.empty((rows, width), np.float32)
    print("NumPy", np.__version__, flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        if line.strip() == "whole":
            fill(out, 0, frequencies)
        else:
            for first in range(0, rows, CHUNK):
                fill(out[first : first + CHUNK], first, frequencies)
        print(time.perf_counter() - begin, flush=True)


main()
