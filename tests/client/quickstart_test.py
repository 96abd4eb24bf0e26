"""Builds client/quickstart against the installed package and runs it.

quickstart_test.py CMAKE BUILD_DIR QUICKSTART_DIR CXX CXX_FLAGS [PHASORD]

Runs without a server, and, where PHASORD is given, against that one.
"""

import os
import signal
import subprocess
import sys
import tempfile

# sin and cos of p and p/100, to six places.
EXPECTED = """\
    0:  0.000000  1.000000  0.000000  1.000000
    1:  0.841471  0.540302  0.010000  0.999950
    2:  0.909297 -0.416147  0.019999  0.999800
 1000:  0.826880  0.562379 -0.544021 -0.839072
 1001:  0.919991 -0.391940 -0.552384 -0.833589
 1002:  0.167267 -0.985912 -0.560693 -0.828024
"""
EXPECTED_CORE = "  0.909297 -0.416147  0.019999  0.999800\n"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def expect(got, want):
    if got != want:
        sys.exit(f"got\n{got}\nwant\n{want}")


def run_against(phasord, quickstart, directory):
    address = f"unix:{directory}/socket"
    server = subprocess.Popen([phasord, f"--listen={address}"], stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if line.startswith("phasord ready on"):
                break
        else:
            sys.exit("phasord did not get ready")
        expect(run(quickstart, address), EXPECTED)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()
    if server.returncode != 0:
        sys.exit(f"phasord ended with {server.returncode}")


def main():
    cmake, build, source, cxx, flags = sys.argv[1:6]
    with tempfile.TemporaryDirectory() as directory:
        prefix = os.path.join(directory, "prefix")
        stranger = os.path.join(directory, "build")
        run(cmake, "--install", build, "--prefix", prefix)
        run(cmake, "-S", source, "-B", stranger, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={cxx}", f"-DCMAKE_CXX_FLAGS={flags}",
            "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
        run(cmake, "--build", stranger)
        quickstart = os.path.join(stranger, "quickstart")
        expect(run(quickstart), EXPECTED)
        expect(run(os.path.join(stranger, "quickstart_core")), EXPECTED_CORE)
        for phasord in sys.argv[6:]:
            run_against(phasord, quickstart, directory)


main()
