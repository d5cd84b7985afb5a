"""Runs dlbricks over files of graphs, many with one command, and reads what it says of each."""

import json
import os
import re
import subprocess
import tempfile

COMMAND = ["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "dist", "src", "cli", "main.js"), "dlbricks"]
MEASURING = ["--threads", "1", "--store", "memory:"]


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "dimensions.json")) as file:
    DIMENSIONS = json.load(file)

# Options that a graph needs: sizes of its open dimensions.
SETTINGS = {
    name: [option for dimension, size in sizes.items() for option in ("--dimension", f"{dimension}={size}")]
    for name, sizes in DIMENSIONS.items()
}


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def said_by(*arguments):
    """Exit code, and errors and warnings."""
    done = subprocess.run([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("note:")]
    return done.returncode, lines


def report(command, paths, *options):
    """The report's models by the names of their files; where there is no report, what the command said of them all."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "report.json")
        code, said = said_by(command, *paths, "--export-json", file, "--quiet", *MEASURING, *options)
        if not os.path.exists(file):
            reason = " ".join(said) or f"exit code {code} without a word"
            return {name_of(path): {"coverage": 0, "missing": [{"reason": reason}]} for path in paths}
        with open(file) as read:
            return {name_of(model["name"]): model for model in json.load(read)["models"]}


LEFT_OUT = re.compile(r"^(?:warning: |error: )?(?P<name>\S+) is left out: (?P<reason>.*)$")


def left_out(paths, cut, *options):
    """Why `generate` leaves graphs out, by name."""
    with tempfile.TemporaryDirectory() as folder:
        code, said = said_by("generate", *paths, "--cut", cut, "-o", os.path.join(folder, "made"), "--quiet", *options)
        found = [match for match in map(LEFT_OUT.match, said) if match]
        reasons = {name_of(match["name"]): match["reason"] for match in found}
        if code in (0, 3) or reasons:
            return reasons
        return {name_of(path): " ".join(said) or f"exit code {code} without a word" for path in paths}


def covered(paths, options=()):
    """For each graph its coverage at both cuts, and the reasons for what is missing, `generate`'s included."""
    result = {name_of(path): {"coverage": {}, "kernels": None, "reasons": []} for path in paths}
    for cut in ["kernel", "layer"]:
        quick = ["--runs", "3", "--warmup", "1", "--repeat-limit", "0.001"]
        models = report("run", paths, "--cut", cut, *quick, *options)
        refused = left_out(paths, cut, *options)
        for name, one in result.items():
            model = models.get(name, {"coverage": 0, "missing": [{"reason": "not in the report"}]})
            one["coverage"][cut] = model["coverage"]
            one["kernels"] = one["kernels"] or model.get("kernels")
            one["reasons"] += [missing["reason"] for missing in model["missing"]]
            if model.get("kernel_differences"):
                one["reasons"].append(f"other kernels than the file's: {model['kernel_differences']}")
            if name in refused:
                one["reasons"].append(f"generate: {refused[name]}")
    return result


def is_covered(one):
    return all(share == 1 for share in one["coverage"].values())


def brief(reasons, most=400):
    return "; ".join(dict.fromkeys(reasons)).replace("|", "/").replace("\n", " ")[:most]


def percent(share):
    return f"{share * 100:.0f} %"
