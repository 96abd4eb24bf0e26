"""Rows of a table as NumPy gives them: from a mapped file, or computed.

For each line of input, "map START COUNT" or "make START COUNT", prints the seconds.
"""

import sys
import time

import numpy as np


def main():
    path, width = sys.argv[1], int(sys.argv[2])
    table = np.memmap(path, np.float32, "r").reshape(-1, width)
    frequencies = np.power(10000.0, -np.arange(0, width, 2) / width)
    print("ready", flush=True)
    for line in sys.stdin:
        how, start, count = line.split()
        start, count = int(start), int(count)
        begin = time.perf_counter()
        if how == "map":
            rows = np.array(table[start : start + count])
        else:
            angles = np.arange(start, start + count)[:, None] * frequencies
            rows = np.empty((count, width), np.float32)
            rows[:, 0::2] = np.sin(angles)
            rows[:, 1::2] = np.cos(angles)
        seconds = time.perf_counter() - begin
        assert np.abs(rows - table[start : start + count]).max() < 1e-6
        print(seconds, flush=True)


main()
