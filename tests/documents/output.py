"""How the output that a document shows is compared with what a program prints.

Each line must be the same, in the same order, and nothing may come before or after; empty lines do not count. What varies is written like this:

    ...        alone on a line: any lines, or none
    ...        within a line: any text that is not empty

and these words after the language of the block allow more:

    numbers     a number stands for any number of its kind: an integer, a decimal fraction, a hexadecimal task id; and
                columns may be wider or narrower
    any-order   the lines may come in any order, as those of several tasks do
"""
import re

WORDS = {"numbers", "any-order"}
NUMBER = re.compile(r"\.\.\.|(?<![\w.])t?(?=[0-9a-f]*[0-9])[0-9a-f]{5,6}(?![\w.])|\d+\.\d+|\d+")
ELLIPSIS = re.compile(r"\.\.\.")
KINDS = [(r"\.\.\.$", ".+"), (r"t[0-9a-f]{5,6}$", "t[0-9a-f]{5,6}"), (r"[0-9a-f]{5,6}$", "[0-9a-f]{1,8}"), (r"\d+\.\d+$", r"\d+\.\d+"), (r"\d+$", r"\d+")]


def pattern_of(line, words):
    """The regular expression that a line of output must match."""
    numbers, at, text = "numbers" in words, 0, ""

    def plain(part):
        escaped = re.escape(part)
        return re.sub(r"(\\ )+", " +", escaped) if numbers else escaped
    for found in (NUMBER if numbers else ELLIPSIS).finditer(line):
        text += plain(line[at:found.start()])
        text += next(replacement for kind, replacement in KINDS if re.match(kind, found[0]))
        at = found.end()
    text += plain(line[at:])
    return (" *" if numbers and not line.startswith(" ") else "") + text + " *"


def in_any_order(shown, got, words):
    """Gives each shown line one of those that were printed, the most particular first."""
    left, rest = list(got), "..." in shown
    for line in sorted((line for line in shown if line != "..."), key=lambda line: line.count("...")):
        match = next((other for other in left if re.fullmatch(pattern_of(line, words), other)), None)
        if match is None:
            return False
        left.remove(match)
    return rest or not left


def agrees(shown, got, words):
    """Whether the lines GOT are what the document shows."""
    if "any-order" in words:
        return in_any_order(shown, got, words)
    whole = "".join("(?:.*\n)*?" if line.strip() == "..." else pattern_of(line, words) + "\n" for line in shown)
    return re.fullmatch(whole, "".join(line + "\n" for line in got)) is not None
