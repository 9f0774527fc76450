# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Convert the code blocks of pages of Documentation/ into scripts that job-tutorial runs.

A block is the content of a file if the text before it ends with "in `PATH`:" or "as `PATH`:". Among the other
blocks, an indented block has commands. A fenced block without a language has the output of the commands before
it. A fenced block with a language is ignored.

The line "<!-- guest: skip, REASON -->" before a block exempts it, because a guest cannot run its commands.
"""

import re
import textwrap
from dataclasses import dataclass

from . import LaneError

# A block is fenced, with a language and lines, or it is indented and begins after a blank line.
BLOCK = re.compile(r"^ *```(\w*)\n((?:.*\n)*?) *```$|(?<=\n\n)((?: {4}.*\n|\n(?= {4}))+)", re.M)
MARK = re.compile(r"<!-- guest: skip, (.+) -->")
FILE = re.compile(r"\b(?:in|as) `([^`]+)`:$")
END = "END-OF-BLOCK"


@dataclass
class Block:
    """Describe a block. kind is commands, output, file or skip. argument is the file's path, or the reason to
    skip."""
    line: int
    kind: str
    argument: str
    text: str


def block_of(match, line, before):
    """Return the block, with the kind "other" if it is not tested. BEFORE is the paragraph before it."""
    language, fenced, indented = match.groups()
    mark, path = MARK.fullmatch(before), FILE.search(before)
    text = textwrap.dedent(indented or fenced).rstrip("\n") + "\n"
    if mark:
        return Block(line, "skip", mark[1], text)
    if path:
        return Block(line, "file", path[1], text)
    return Block(line, "commands" if indented else "other" if language else "output", "", text)


def check_marks(name, prose, line, follows):
    """Raise LaneError for a mark in PROSE, which begins in LINE, unless the mark has a reason and a block
    FOLLOWS directly."""
    lines = prose.rstrip().split("\n")
    for number, text in enumerate(lines, line):
        last = follows and number == line + len(lines) - 1
        if "<!-- guest:" in text and not (last and MARK.fullmatch(text.strip())):
            raise LaneError(f'{name}:{number}: should be "<!-- guest: skip, REASON -->", with a code block after it')


def blocks_of(name, text):
    """Return the blocks of a page that are tested. Raise LaneError for a wrong mark, and for a page without
    commands, run or skipped."""
    blocks, end = [], 0
    for match in BLOCK.finditer(text):
        prose = text[end:match.start()]
        check_marks(name, prose, text.count("\n", 0, end) + 1, True)
        before = " ".join(prose.rstrip().split("\n\n")[-1].split())
        blocks.append(block_of(match, text.count("\n", 0, match.start()) + 1, before))
        end = match.end()
    check_marks(name, text[end:], text.count("\n", 0, end) + 1, False)
    if not any(block.kind in ("commands", "skip") for block in blocks):
        raise LaneError(f"{name}: no block of commands, not even a skipped one")
    return [block for block in blocks if block.kind != "other"]


def script_of(name, text):
    """
    Return a page as a shell script: calls of "page NAME", and of "commands LINE", "output LINE" and "file LINE PATH" with
    the block as standard input, and of "skip LINE REASON".
    """
    parts = [f"page {name}\n"]
    for block in blocks_of(name, text):
        argument = " '" + block.argument.replace("'", "'\\''") + "'" if block.argument else ""
        body = "" if block.kind == "skip" else f" <<'{END}'\n{block.text}{END}"
        parts.append(f"{block.kind} {block.line}{argument}{body}\n")
    return "".join(parts)
