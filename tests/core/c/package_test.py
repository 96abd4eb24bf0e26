"""Checks libphasor.so as it is installed.

package_test.py CMAKE BUILD_DIR CC C_FLAGS SOURCE

It exports the functions of phasor.h and nothing else; SOURCE builds against
the installed package, by find_package and by pkg-config, and runs.
"""

import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def check_exports(library, header):
    with open(header, encoding="utf-8") as file:
        declared = set(re.findall(r"\b(phasor_\w+)\(", re.sub(r"/\*.*?\*/", "", file.read(),
                                                              flags=re.DOTALL)))
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    symbols = {line.split()[-1] for line in lines}
    version = {symbol for symbol in symbols if symbol.startswith("PHASOR_")}
    exported = {symbol.split("@@")[0] for symbol in symbols - version}
    if exported != declared or not declared:
        sys.exit(f"exported, not declared: {exported - declared}\n"
                 f"declared, not exported: {declared - exported}")
    if {symbol.split("@@")[-1] for symbol in symbols - version} != version or len(version) != 1:
        sys.exit(f"symbols of more versions than one: {symbols}")
    print(f"{len(exported)} functions exported, all of them phasor.h's")


def main():
    cmake, build, cc, flags, source = sys.argv[1:6]
    with tempfile.TemporaryDirectory() as directory:
        prefix = os.path.join(directory, "prefix")
        run(cmake, "--install", build, "--prefix", prefix)
        (pkgconfig,) = glob.glob(f"{prefix}/lib*/**/pkgconfig", recursive=True)
        libraries = os.path.dirname(pkgconfig)
        check_exports(f"{libraries}/libphasor.so", f"{prefix}/include/phasor.h")

        stranger = os.path.join(directory, "build")
        run(cmake, "-S", os.path.join(os.path.dirname(__file__), "stranger"), "-B", stranger,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={cc}",
            f"-DCMAKE_C_FLAGS={flags}", f"-DSOURCE={source}",
            "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
        run(cmake, "--build", stranger)
        print(run(os.path.join(stranger, "stranger")), end="")

        by_pkgconfig = os.path.join(directory, "by_pkgconfig")
        options = run("pkg-config", "--cflags", "--libs", "phasor",
                      env={**os.environ, "PKG_CONFIG_PATH": pkgconfig}).split()
        run(cc, "-std=c11", "-pedantic", *shlex.split(flags), source, "-o", by_pkgconfig, *options,
            "-lm")
        print(run(by_pkgconfig, env={**os.environ, "LD_LIBRARY_PATH": libraries}), end="")


main()
