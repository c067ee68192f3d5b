"""The commands in documents: finds them in Markdown and in the section EXAMPLES of man pages.

A fenced block of Markdown names its language:

    console   what a terminal shows: `$ COMMAND`, or `hostb$ COMMAND` on that host, then its output. Lines `pvm> COMMAND`
              are typed into the program that the command before them started
    sh        commands only
    python    a program
    others    no commands

A block of any language but console and sh that begins with a comment of one word with a dot (`/* ring.c */`, `# lab.atm`)
is the file of that name. So is the output of `cat NAME`, if there is no file of that name yet. Words after the language
of console say how its output is compared, see output.py.
"""
import re
import subprocess
from dataclasses import dataclass, field

OTHERS = {"c", "fortran", "text", "json", "yaml", "make", "cmake", "diff"}
LANGUAGES = {"console", "sh", "python"} | OTHERS
PROMPT = re.compile(r"([a-z][a-z0-9]*)?\$ (.*)")
DIALOG = re.compile(r"[a-z0-9]*> ")
FILE_NAME = re.compile(r"(?:/\*|//|#|!)\s+([\w-]+\.[\w.]+)(?:\s+\*/)?$")


@dataclass
class Block:
    number: int  # of its first line in the document
    language: str
    words: list
    lines: list


@dataclass
class Command:
    number: int
    text: str
    host: str = ""
    typed: list = field(default_factory=list)  # (line to type, or None; the output that must follow)
    shown: list = field(default_factory=list)


def unfinished(text):
    """Whether a shell would wait for more lines."""
    if re.search(r"(?<!\\)(\\\\)*\\$", text):
        return True
    said = subprocess.run(["bash", "-n", "-c", text], stderr=subprocess.PIPE, text=True).stderr
    return "unexpected end of file" in said or "here-document" in said or "unexpected EOF" in said


def markdown_blocks(lines):
    """The fenced blocks, and each indented one as a block of the language None."""
    fence = block = None
    for number, line in enumerate(lines, 1):
        opening = re.match(r" {0,3}```(.*)", line)
        if fence is not None:
            if re.match(r" {0,3}```\s*$", line):
                yield fence
                fence = None
            else:
                fence.lines.append(line)
        elif opening:
            words = opening[1].split() or [""]
            fence = Block(number + 1, words[0], words[1:], [])
        elif line.startswith("    ") and line.strip() and number > 1 and (block or not lines[number - 2].strip()):
            block = block or Block(number, None, [], [])
            block.lines.append(line[4:])
            continue
        if block and line.strip():
            yield block
            block = None
    if block or fence:
        yield block or fence


def man_text(line):
    for old, new in (("\\e", "\\"), ("\\-", "-"), ("\\&", ""), ("\\(dq", '"'), ("\\(aq", "'"), ("\\ ", " ")):
        line = line.replace(old, new)
    return line


def man_blocks(lines):
    """Displays in the section EXAMPLES; one that has a prompt is a console."""
    inside, block = False, None
    for number, line in enumerate(lines, 1):
        if line.startswith(".Sh "):
            inside = line == ".Sh EXAMPLES"
        elif inside and line.startswith(".Bd -literal"):
            block = Block(number + 1, "", [], [])
        elif block and line == ".Ed":
            block.language = "console" if any(PROMPT.match(text) for text in block.lines) else "text"
            yield block
            block = None
        elif block:
            block.lines.append(man_text(line))
        elif inside and line.startswith(".Dl "):
            yield Block(number, "console", [], [man_text(line[4:])])


def blocks_of(path):
    lines = path.read_text().splitlines()
    return list(markdown_blocks(lines) if path.suffix == ".md" else man_blocks(lines))


def is_file(block):
    found = block.lines and FILE_NAME.match(block.lines[0])
    return found[1] if found else None


def commands_of_console(block):
    command = None
    for number, line in enumerate(block.lines, block.number):
        prompt = PROMPT.match(line)
        if command and not command.shown and not command.typed and unfinished(command.text):
            command.text += "\n" + line
        elif prompt:
            if command:
                yield command
            command = Command(number, prompt[2], prompt[1] or "")
        elif not command:
            raise ValueError(f"line {number}: a console begins with a prompt")
        elif DIALOG.match(line):
            command.typed.append((DIALOG.sub("", line, count=1), []))
        elif line.strip(): # empty lines are for the eye
            (command.typed[-1][1] if command.typed else command.shown).append(line)
    if command:
        yield command


def commands_of_shell(block):
    text = ""
    for number, line in enumerate(block.lines, block.number):
        if not text and not line.strip():
            continue
        text = f"{text}\n{line}" if text else line
        if not unfinished(text):
            yield Command(number - text.count("\n"), text)
            text = ""
    if text:
        raise ValueError(f"line {block.number}: this is no complete command: {text}")


def commands_of(block):
    return list({"console": commands_of_console, "sh": commands_of_shell}[block.language](block))
