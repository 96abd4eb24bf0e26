#!/usr/bin/env python3
"""Finds positions and frequencies whose product is next to a hard angle.

position * frequency has 106 bits, so it can be brought within 2^-105 of any
angle: round the angle to so many bits, and factor what comes out into two
binary64. Done here for angles whose sine (or cosine) is midway between two
elements of a type. Writes hard_angles.tsv: function, type, position, frequency
(hexadecimal), log2 of the distance. Takes minutes; --check verifies it.
"""

import math
import os
import random
import sys

import mpmath

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hard_angles.tsv")
TYPES = {"FLOAT32": 24, "FLOAT64": 53, "FLOAT16": 11, "BFLOAT16": 8}
BITS = 105
mpmath.mp.prec = 400


def is_prime(n):
    if n < 4:
        return n > 1
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if n % a == 0:
            return n == a
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def one_factor(n, steps):
    """Pollard's rho; None if `steps` do not find one."""
    if n % 2 == 0:
        return 2
    x = y = 2
    product = 1
    for step in range(1, steps):
        x = (x * x + 1) % n
        y = (y * y + 1) % n
        y = (y * y + 1) % n
        product = product * abs(x - y) % n
        if step % 64 == 0:
            g = math.gcd(product, n)
            if g == n:
                return None
            if g > 1:
                return g
    return None


def factor(n):
    if n == 1:
        return []
    if is_prime(n):
        return [n]
    f = one_factor(n, 4000)
    if f is None:
        return None
    left, right = factor(f), factor(n // f)
    return None if left is None or right is None else left + right


def split(n):
    """n as a product of two numbers below 2^53, or None."""
    factors = factor(n)
    if factors is None:
        return None
    products = {1}
    for f in factors:
        products |= {p * f for p in products if p * f < 2**53}
    good = [p for p in products if n // p < 2**53]
    return (max(good), n // max(good)) if good else None


def midpoints(function, precision, rng):
    while True:
        n = 2 * rng.randrange(2 ** (precision - 1), 2**precision) + 1
        y = mpmath.mpf(n) / 2 ** (precision + 1)
        yield mpmath.asin(y) if function == "sin" else mpmath.acos(y)


def distance(angle, position, frequency):
    return abs(mpmath.mpf(position) * mpmath.mpf(frequency) - angle)


def find(angles):
    for angle in angles:
        scale = BITS - (math.floor(mpmath.log(angle, 2)) + 1)
        parts = split(int(mpmath.nint(angle * 2**scale)))
        if parts is not None:
            position, significand = parts
            return angle, position, math.ldexp(significand, -scale)


def rows():
    rng = random.Random(1)
    wanted = [("sin", name) for name in TYPES]
    wanted += [("cos", name) for name in ("FLOAT32", "FLOAT64", "FLOAT16")]
    for function, name in wanted:
        yield function, name, *find(midpoints(function, TYPES[name], rng))


def check():
    """Each row: as near as it says to a number that is midway."""
    with open(PATH, encoding="ascii") as file:
        for line in file:
            function, name, position, frequency, log = line.split("\t")
            angle = mpmath.mpf(int(position)) * mpmath.mpf(float.fromhex(frequency))
            value = abs(mpmath.sin(angle) if function == "sin" else mpmath.cos(angle))
            unit = mpmath.mpf(2) ** (mpmath.floor(mpmath.log(value, 2)) - TYPES[name])
            n = mpmath.nint(value / unit)
            assert int(n) % 2 == 1, line
            off = abs(value - n * unit)
            assert off < mpmath.mpf(2) ** float(log) * 1.01 and float(log) < -96, line
    return 0


def main():
    if "--check" in sys.argv:
        return check()
    with open(PATH, "w", encoding="ascii") as file:
        for function, name, angle, position, frequency in rows():
            log = math.ceil(mpmath.log(distance(angle, position, frequency), 2) * 10) / 10
            file.write(f"{function}\t{name}\t{position}\t{float.hex(frequency)}\t{log}\n")
            file.flush()
    return check()


sys.exit(main())
