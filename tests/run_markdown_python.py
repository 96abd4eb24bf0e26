#!/usr/bin/env python3
"""Runs the ```python blocks of a Markdown file, in order, in one namespace.

The blocks assert what they claim, so that a page cannot drift from the truth.
"""

import re
import sys


def main():
    (path,) = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        sys.exit(f"{path}: no Python block")
    namespace = {}
    for block in blocks:
        # Blank lines before the block make its line numbers those of the page.
        before = "\n" * (text.count("\n", 0, block.start()) + 1)
        exec(compile(before + block.group(1), path, "exec"), namespace)


if __name__ == "__main__":
    main()
