"""phasord as a process of its own."""

import os
import pathlib
import re
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PHASOR_BUILD_DIR", ROOT / "build"))
TIMEOUT = 60  # seconds; a call that hangs fails


class Server:
    """A phasord of its own on a free port."""

    def __init__(self, *flags, listen="127.0.0.1:0"):
        self.log = []
        self.process = subprocess.Popen(
            [BUILD / "bin/phasord", f"--listen={listen}", *flags],
            stderr=subprocess.PIPE,
            text=True,
        )
        for line in self.process.stderr:
            self.log.append(line)
            ready = re.match(r"phasord ready on (\S+)", line)
            if ready:
                self.address = ready[1]
                break
        else:
            raise RuntimeError("phasord did not start: " + "".join(self.log))
        # Read on, or the server would stop at a full pipe.
        self.reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.reader.start()

    def wait(self):
        status = self.process.wait(TIMEOUT)
        self.reader.join()
        self.process.stderr.close()
        return status

    def terminate(self):
        self.process.terminate()
        return self.wait()
