#!/usr/bin/python3
"""Puts faults into core/ and client/, one at a time, and sees whether the tests fail.

Two kinds of faults:
- named.toml: the classic ones, as exact replacements. Every one has to be killed.
- general ones: single lines changed by universalmutator's rules for C++, a
  sample drawn with a seed. Nine in ten have to be killed.

A mutant is killed when a GoogleTest (or C) test of its area fails, crashes or
takes far longer than it does without the fault; the tests in Python do not take
part. Those that do not compile are not counted, nor those that compile to the
same object code, nor those in equivalent.tsv. An entry of either file that no
longer fits the code fails the run.

Works on copies of the tree in the work directory; each worker has its own.
"""

import argparse
import contextlib
import dataclasses
import functools
import hashlib
import io
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
AREAS = {
    "c": ("core/c",),
    "core": ("core",),
    "client": ("client/src", "client/include"),
}
LIBRARIES = {"c": "phasor_c", "core": "phasor_core", "client": "phasor_client_objects"}
OBJECTS = {"c": "core/c/", "core": "core/", "client": "client/"}  # below a build
ANY = "*"  # in equivalent.tsv: whatever a line is changed to
RULES = ["universal.rules", "c_like.rules", "cpp.rules"]
NEEDED_SCORE = 0.9
# Of a test: a loop for more and more precision would take all there is.
MEMORY_LIMIT = 2 << 30


@dataclasses.dataclass
class Mutant:
    """A fault: what stands in which files while it is in."""

    label: str
    area: str
    texts: dict  # path -> whole text
    candidate: tuple | None = None  # (path, line number, line, changed line) of a general one


@dataclasses.dataclass
class Test:
    name: str
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    kills: int = 0

    def promise(self):
        """Kills per second spent, for the order in which tests are tried."""
        return (self.kills + 0.5) / (self.wall_seconds + 0.5)


@dataclasses.dataclass
class Verdict:
    outcome: str  # killed, survived, same_code, invalid
    by: str = ""


def area_of(path):
    return next((a for a, roots in AREAS.items() if path.startswith(tuple(r + "/" for r in roots))), None)


@functools.cache
def source(path):
    """The text of a file when the run began; empty if there is none."""
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).digest()


def squeeze(text):
    """How equivalent.tsv writes a line."""
    return "\\n".join(" ".join(line.split()) for line in text.strip().split("\n"))


# ---------------------------------------------------------------- faults


def named_faults(names):
    """The named faults, and what is wrong with those that no longer fit."""
    faults, stale = [], []
    for entry in tomllib.loads((HERE / "named.toml").read_text())["fault"]:
        if names and not any(n in entry["name"] for n in names):
            continue
        texts, wrong = {}, None
        for edit in entry["edit"]:
            path, find = edit["file"], edit["find"]
            text = texts.get(path, source(path))
            if text.count(find) != 1:
                wrong = f"{entry['name']}: stale: occurs {text.count(find)} times in {path}: {find}"
                break
            texts[path] = text.replace(find, edit["replace"])
        if wrong:
            stale.append(wrong)
        else:
            faults.append(Mutant(entry["name"], area_of(next(iter(texts))), texts))
    return faults, stale


STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
WORD = re.compile(r"\.?\w(?:[\w.]|(?<=[eEpP])[+-])*")
NUMBER = re.compile(r"\.?[0-9](?:[0-9a-fA-FxXpP.]|(?<=[eEpP])[+-])*[uUlLfF]*")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*")
# Numbers cut in two, operators run together, a condition for an operator.
BROKEN = re.compile(
    r"0x[0-9a-fA-F.]*p(?![-+0-9])|(?<![\w.])[0-9][0-9a-fA-FxXpP.]*\(|==<|<=<"
    r"|[\w)\]](?<!if)(?<!while) ?\([01]==1\)")
NO_CODE = r"^\s*(#|//|using\b|namespace\b|static_assert\b|friend\b|template\b|class\b.*;|\}\s*//)"
NEW_WORDS = {"break", "continue", "if", "begin", "end", "min", "max"}


def code_of(line):
    return COMMENT.sub("", STRING.sub('""', line))


def balance_of(line):
    """How many brackets of each kind a line leaves open."""
    code = code_of(line)
    return [code.count(opening) - code.count(closing) for opening, closing in ("()", "[]", "{}")]


def is_in_loop(lines, number):
    """Whether a `break` after that line has a loop or switch around it, by indentation."""
    depth = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[:number]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and (indent < depth or line is lines[number - 1]):
            depth = indent
            if re.match(r"\s*(for|while|do|switch)\b", line):
                return True
    return False


def could_compile(line, changed, words, in_loop):
    """Spares the compiler most of what the rules, which know no grammar, do to names and types."""
    for word in WORD.findall(code_of(changed)):
        if word not in words and not NUMBER.fullmatch(word):
            return False
    if balance_of(line) != balance_of(changed) or BROKEN.search(code_of(changed)):
        return False
    first, *added = changed.rstrip("\n").split("\n")
    if added:
        return line.rstrip()[-1] in ";{}" and in_loop
    # Brackets of templates, pointers and references: operators have spaces around them.
    at = len(os.path.commonprefix([line, first]))
    while at > 0 and line[at - 1] in "<>=&*":
        at -= 1
    operator = re.match(r"[<>=&*!|]+", line[at:])
    return not operator or line[at - 1] == " " and line[at + len(operator[0])] == " "


def candidates(path):
    """General mutants of one file: (path, line number, line, changed line)."""
    from universalmutator import mutator

    text = source(path)
    lines = text.splitlines(keepends=True)
    words = set(WORD.findall(text)) | NEW_WORDS
    with contextlib.redirect_stdout(io.StringIO()):
        found = mutator.mutants_regexp(lines, RULES, ignorePatterns=[NO_CODE])
    for number, changed, *_ in found:
        line = lines[number - 1]
        # What changes words for people alone is no fault.
        if code_of(line).split() != code_of(changed).split() and \
                could_compile(line, changed, words, is_in_loop(lines, number)):
            yield (path, number, line, changed)


def general_mutant(candidate):
    path, number, line, changed = candidate
    lines = source(path).splitlines(keepends=True)
    lines[number - 1] = changed
    diff = f"{path}:{number}\n- {line.strip()}\n+ {squeeze(changed)}"
    return Mutant(diff, area_of(path), {path: "".join(lines)}, candidate)


def equivalent_entries():
    """(file, line, changed line) -> reason, and what no longer fits."""
    entries, stale = {}, []
    for row in (HERE / "equivalent.tsv").read_text().splitlines():
        if not row or row.startswith("#"):
            continue
        path, line, changed, reason = row.split("\t")
        entries[(path, line, changed)] = reason
        if line not in map(squeeze, source(path).splitlines()):
            stale.append(f"equivalent.tsv: stale: not in {path}: {line}")
    return entries, stale


# ---------------------------------------------------------------- builds and tests


class Worker:
    """A copy of the tree, its build, and what stands in it now."""

    def __init__(self, directory, tests=None):
        self.tree = directory / "tree"
        self.build = self.tree / "build"
        self.tests = tests
        self.put = []
        self.objects = {}
        self.binaries = {}  # of tests that have the library in themselves, without a fault

    def synchronise(self):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.split("\0")
        wanted = {path for path in listed if path and (ROOT / path).is_file()}
        for path in wanted:
            self.write(path, (ROOT / path).read_bytes())
        for path in [p for p in self.tree.rglob("*") if p.is_file()]:
            if self.build not in path.parents and str(path.relative_to(self.tree)) not in wanted:
                path.unlink()

    def write(self, path, content):
        target = self.tree / path
        if target.exists() and target.read_bytes() == content:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def configure(self):
        if (self.build / "build.ninja").exists():
            return
        # As ./dev test builds: what it compiled need not be compiled again.
        command = ["cmake", "--preset", "release", f"-DPython3_EXECUTABLE={sys.executable}"]
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        subprocess.run(command, cwd=self.tree, check=True, stdout=subprocess.DEVNULL)

    def ninja(self, targets, jobs=1):
        environment = os.environ | {"CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "true"}
        return subprocess.run(
            ["ninja", "-C", self.build, f"-j{jobs}", *targets],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        )

    def find_tests(self):
        """The test binaries of each area."""
        listed = json.loads(subprocess.run(
            ["ctest", "--show-only=json-v1"], cwd=self.build, check=True, capture_output=True, text=True,
        ).stdout)["tests"]
        tests = {area: [] for area in AREAS}
        for name in (entry["name"] for entry in listed):
            if (ROOT / "tests/core" / f"{name}.cc").exists():
                tests["core"].append(Test(name))
            elif name.startswith("client_") and name.endswith("_test"):
                tests["client"].append(Test(name))
            elif name.endswith("_c_test"):
                tests["c"].append(Test(name))
        assert all(tests.values())
        return tests

    def hash_objects(self):
        return {p: digest_of(p) for p in self.build.rglob("*.o")}

    def binary_of(self, test):
        return self.build / "bin" / test.name

    def command_of(self, test):
        return [str(self.binary_of(test)), "--gtest_break_on_failure", "--gtest_brief=1"]

    def run(self, test, limited=True):
        """None if the test passes, else how it failed."""
        cpu = int(10 + 5 * test.cpu_seconds) if limited else 3600

        def limit():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))

        process = subprocess.Popen(
            self.command_of(test), cwd=self.build, preexec_fn=limit,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            status = process.wait(timeout=30 + 10 * test.wall_seconds if limited else 3600)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # What the test forked too: where it ends by a signal it has not ended them.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if status is None:
            process.wait()
            return "time"
        if status == 0:
            return None
        return "time" if status in (-signal.SIGXCPU, -signal.SIGKILL) else "failure"

    def judge(self, mutant):
        for path in self.put:
            self.write(path, source(path).encode())
        self.put = list(mutant.texts)
        for path, text in mutant.texts.items():
            self.write(path, text.encode())

        built = self.ninja([LIBRARIES[mutant.area]])
        if built.returncode != 0:
            return Verdict("invalid", built.stdout)
        inside_library = all(path.endswith(".cc") for path in mutant.texts)
        if inside_library and self.unchanged(OBJECTS[mutant.area]):
            return Verdict("same_code")
        stems = {prefix + pathlib.Path(path).stem + "_test"
                 for path in mutant.texts for prefix in ("", f"{mutant.area}_")}
        tests = sorted(self.tests[mutant.area], key=lambda t: (t.name not in stems, -t.promise()))
        for test in tests:
            built = self.ninja([test.name])
            if built.returncode != 0:
                if "static assertion failed" in built.stdout:
                    return Verdict("killed", f"{test.name} (static_assert)")
                return Verdict("invalid", built.stdout)
            # What has nothing of the library that changed passes as before.
            if digest_of(self.binary_of(test)) == self.binaries.get(test.name):
                continue
            failed = self.run(test)
            if failed is not None:
                test.kills += 1
                return Verdict("killed", test.name + (" (time)" if failed == "time" else ""))
        if not inside_library and self.unchanged(""):
            return Verdict("same_code")
        return Verdict("survived")

    def unchanged(self, folder):
        below = str(self.build / folder)
        return all(
            digest_of(p) == digest
            for p, digest in self.objects.items() if str(p).startswith(below)
        )


def prepare(directory, count, areas):
    """Workers whose builds stand, and whose tests pass without a fault."""
    workers = [Worker(directory / f"worker{k}") for k in range(count)]
    tests = None
    for worker in workers:
        worker.synchronise()
        worker.configure()
        if tests is None:
            tests = {a: t for a, t in worker.find_tests().items() if a in areas}
        targets = [LIBRARIES[a] for a in tests] + [t.name for ts in tests.values() for t in ts]
        note(f"building {worker.build}")
        built = worker.ninja(targets, jobs=count)
        if built.returncode != 0:
            print(built.stdout, file=sys.stderr)
            sys.exit("mutants: the tree does not build")
        worker.objects = worker.hash_objects()
        worker.binaries = {t.name: digest_of(worker.binary_of(t)) for t in tests.get("core", [])}
        worker.tests = tests
    note("running the tests without a fault")
    for test in [t for ts in tests.values() for t in ts]:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        failed = workers[0].run(test, limited=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        test.wall_seconds = time.monotonic() - start
        test.cpu_seconds = (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
        if failed is not None:
            sys.exit(f"mutants: fails without a fault: {' '.join(workers[0].command_of(test))}")
    return workers


def judge_all(workers, mutants, enough, report):
    """Verdicts of mutants, in their order, until `enough(verdicts)` of a prefix."""
    verdicts, lock, feed = {}, threading.Lock(), iter(enumerate(mutants))
    done = threading.Event()

    def prefix():
        k = 0
        while k in verdicts:
            k += 1
        return [verdicts[n] for n in range(k)]

    def work(worker):
        while not done.is_set():
            with lock:
                number, mutant = next(feed, (None, None))
            if mutant is None:
                return
            verdict = worker.judge(mutant)
            with lock:
                verdicts[number] = (mutant, verdict)
                report(mutant, verdict)
                if enough(prefix()):
                    done.set()

    threads = [threading.Thread(target=work, args=(w,), daemon=True) for w in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result = prefix()
    while result and enough(result[:-1]):
        result.pop()
    return result


# ---------------------------------------------------------------- the run


def note(text):
    print(f"mutants: {text}", file=sys.stderr, flush=True)


def outcomes(verdicts, outcome):
    return [m for m, v in verdicts if v.outcome == outcome]


def run_named(workers, faults, stale, verbose):
    def report(mutant, verdict):
        if verdict.outcome == "killed":
            print(f"  killed    {mutant.label}  [{verdict.by}]", flush=True)
        else:
            print(f"  {verdict.outcome.upper():<9} {mutant.label}", flush=True)
            if verbose and verdict.by:
                print(verdict.by, flush=True)

    verdicts = judge_all(workers, faults, lambda _: False, report)
    for line in stale:
        print(f"  STALE     {line}")
    killed = len(outcomes(verdicts, "killed"))
    print(f"named: {killed} of {len(faults) + len(stale)} killed")
    return killed, len(faults) + len(stale) - killed


def run_general(workers, chosen, sample, survivors_file, verbose):
    counts = {"killed": 0, "survived": 0, "same_code": 0, "invalid": 0, "time": 0}

    def counted(verdicts):
        return sum(v.outcome in ("killed", "survived") for _, v in verdicts)

    def report(mutant, verdict):
        counts[verdict.outcome] += 1
        counts["time"] += verdict.by.endswith("(time)")
        judged = counts["killed"] + counts["survived"]
        if verdict.outcome == "survived":
            print(f"survived: {mutant.label}", flush=True)
        elif verbose:
            by = "" if verdict.outcome == "invalid" else verdict.by
            print(f"{verdict.outcome}: {mutant.label} {by}", flush=True)
        if verdict.outcome in ("killed", "survived") and judged % 10 == 0:
            note(f"{judged}/{sample or '?'} judged, {counts['survived']} survived, "
                 f"{counts['invalid']} did not compile, {counts['same_code']} same code")

    enough = (lambda v: counted(v) >= sample) if sample else (lambda v: False)
    verdicts = judge_all(workers, map(general_mutant, chosen), enough, report)
    killed, survived = outcomes(verdicts, "killed"), outcomes(verdicts, "survived")
    survivors_file.write_text(json.dumps([m.candidate for m in survived]))
    print(f"\nsurvivors: {len(survived)}")
    for mutant in survived:
        print(f"\n{mutant.label}")
    total = len(killed) + len(survived)
    score = len(killed) / total if total else 1.0
    print(f"\ngeneral: {len(killed)} of {total} killed ({100 * score:.1f} %; {counts['time']} by time); "
          f"not counted: {len(outcomes(verdicts, 'invalid'))} do not compile, "
          f"{len(outcomes(verdicts, 'same_code'))} compile to the same code")
    return score >= NEEDED_SCORE


def main():
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="general mutants of these files or folders alone")
    parser.add_argument("--named", nargs="?", const="", metavar="TEXT",
                        help="the named faults alone (those whose name holds TEXT)")
    parser.add_argument("--general", action="store_true", help="the general mutants alone")
    parser.add_argument("--sample", type=int, default=120, help="how many general mutants (120)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (1)")
    parser.add_argument("--all", action="store_true", help="all general mutants")
    parser.add_argument("--again", action="store_true", help="the last run's survivors alone")
    parser.add_argument("--list", action="store_true", help="list the general mutants, run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--verbose", action="store_true", help="the killed ones too, and by what")
    options = parser.parse_args()

    os.nice(10)
    options.work = options.work.resolve()
    survivors_file = options.work / "survivors.json"
    equivalents, stale_equivalents = equivalent_entries()
    faults, stale = [], []
    if not (options.general or options.again or options.paths or options.list):
        faults, stale = named_faults([options.named] if options.named else [])

    chosen, equivalent_count = [], 0
    if options.again:
        chosen = [tuple(c) for c in json.loads(survivors_file.read_text())]
    elif options.named is None:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
        for path in listed.stdout.splitlines():
            if area_of(path) and path.endswith((".cc", ".h")) and \
                    (not options.paths or path.startswith(tuple(options.paths))):
                chosen += candidates(path)
        random.Random(options.seed).shuffle(chosen)
    kept = [c for c in chosen if not any(
        (c[0], squeeze(c[2]), changed) in equivalents for changed in (squeeze(c[3]), ANY))]
    equivalent_count = len(chosen) - len(kept)
    sample = None if options.all or options.again else options.sample
    if options.list:
        for candidate in kept:
            print(general_mutant(candidate).label, end="\n\n")
        print(f"{len(kept)} mutants, {equivalent_count} more are listed as equivalent")
        return 0

    options.work.mkdir(parents=True, exist_ok=True)
    areas = {m.area for m in faults} | {area_of(c[0]) for c in kept}
    workers = prepare(options.work, options.jobs, areas)
    passed, failed = 0, 0
    if faults or stale:
        passed, failed = run_named(workers, faults, stale, options.verbose)
    if kept:
        print(f"general: {len(kept)} mutants to draw from, {equivalent_count} more are equivalent, "
              f"seed {options.seed}")
        good = run_general(workers, kept, sample, survivors_file, options.verbose)
        passed, failed = passed + good, failed + (not good)
    for line in stale_equivalents:
        print(line)
    failed += len(stale_equivalents)
    # A named fault is one check, the score of the general ones is one.
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
