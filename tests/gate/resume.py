# SPDX-License-Identifier: LGPL-2.1-or-later
"""Skip lanes that have passed on this tree, because "make check-all" takes hours."""

import json
import os
import subprocess
import tempfile


def tree_of(root):
    """Return the id that git computes for all files of the work tree at ROOT, except for ignored files."""
    with tempfile.TemporaryDirectory() as scratch:
        env = dict(os.environ, GIT_INDEX_FILE=os.path.join(scratch, "index"))

        def git(*argv):
            return subprocess.run(["git", "-C", root, *argv], env=env, text=True, stdout=subprocess.PIPE,
                                  check=True).stdout.strip()
        git("add", "-A")
        return git("write-tree")


class Passed:
    """Store the results of lanes for a tree, in one file for each lane in FOLDER."""

    def __init__(self, folder, tree):
        self.folder = folder
        self.tree = tree

    def results(self, lane):
        """Return the counts of LANE on this tree; None unless it passed."""
        try:
            saved = json.loads((self.folder / f"{lane}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return [tuple(one) for one in saved["results"]] if saved.get("tree") == self.tree else None

    def save(self, lane, results):
        """Save the counts of LANE. The file is complete or absent."""
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f".{lane}.part"
        part.write_text(json.dumps({"tree": self.tree, "results": results}), encoding="utf-8")
        part.rename(self.folder / f"{lane}.json")
