"""Checks what the client library shows to those who link it.

exports_test.py LIBRARY CXX INCLUDE_DIR...

The shared library exports phasor's public symbols and nothing else; the
headers, but for phasor/grpc.h, include nothing of gRPC or protobuf.
"""

import re
import subprocess
import sys

# What demangled names may begin with.
ALLOWED = re.compile(r"(vtable for |typeinfo for |typeinfo name for )?phasor::(?!v1::|internal::)")
# Symbols that have to be there, so that an empty list does not pass.
REQUIRED = [
    "phasor::Client::Connect(",
    "phasor::Table::Read(",
    "phasor::Cursor::Enter(",
    "phasor::SinusoidalPE::Create(",
    "phasor::CanonicalSpec::Create(",
    "phasor::LocalTable::Create(",
    "phasor::ShiftRows(",
    "phasor::RotatePairs(",
    "phasor::LayoutName(",
    "phasor::FieldOf",
]


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def main():
    library, cxx, *include_dirs = sys.argv[1:]
    lines = run("nm", "-DC", "--defined-only", library).splitlines()
    names = [re.match(r"[0-9a-f]* +\S (.*)", line).group(1) for line in lines]
    faults = [f"exported: {name}" for name in names if not ALLOWED.match(name)]
    faults += [
        f"not exported: {required}" for required in REQUIRED
        if not any(name.startswith(required) for name in names)
    ]

    includes = [f"-I{directory}" for directory in include_dirs]
    read = run(cxx, "-std=c++20", "-M", "-x", "c++", *includes, "-",
               input='#include "phasor/phasor.h"\n')
    faults += [
        f"phasor/phasor.h includes {path}" for path in read.split()
        if re.search(r"/grpc|/google/protobuf|\.pb\.h", path)
    ]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(names)} symbols exported, all of them phasor's")


main()
