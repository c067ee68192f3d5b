"""How send() puts Python values into a message, and how they come out again; README.md describes the format.

A message begins with two ints, MAGIC and the length of a text, then that text as bytes: a word for each value, which
says what follows. Then come the data, packed with PVM's types, so that machines of any kind can read them.
"""

from __future__ import annotations

from array import array
from typing import Any, Callable, Dict, Iterator, List, Tuple

from .buffers import Buffer, empty

MAGIC = 0x6450764D
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_DEPTH_MAX = 100
_RUN_MIN = 4  # ints or floats in a row that are packed as one

Piece = Tuple[str, Any]
"""What a value becomes: the name of the type for pvm_pk..., and an object with the buffer protocol."""


class NotValues(ValueError):
    """The message was not packed by send(), so nobody knows what is in it."""


# ---- packing ----


def _put_integer(value: int, words: List[str], data: List[Piece]) -> None:
    if _INT64_MIN <= value <= _INT64_MAX:
        words.append("i")
        data.append(("long", array("q", [value])))
    else:
        digits = b"%d" % value
        words.append(f"I{len(digits)}")
        data.append(("byte", digits))


def _put_sequence(open: str, items: Any, words: List[str], data: List[Piece], depth: int) -> None:
    kinds = {type(item) for item in items} if len(items) >= _RUN_MIN else set()
    if open == "[" and kinds == {int} and all(_INT64_MIN <= item <= _INT64_MAX for item in items):
        words.append(f"L{len(items)}")
        data.append(("long", array("q", items)))
    elif open == "[" and kinds == {float}:
        words.append(f"D{len(items)}")
        data.append(("double", array("d", items)))
    else:
        words.append(f"{open}{len(items)}")
        for item in items:
            _put(item, words, data, depth + 1)


def _put_buffer(value: Any, words: List[str], data: List[Piece], depth: int) -> None:
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(
            f"a {type(value).__name__} cannot be sent; send numbers, texts, bytes, arrays (anything with the buffer "
            "protocol), None, and lists, tuples and dicts of them"
        ) from None
    if view.ndim == 0 and hasattr(value, "item"):  # a number of NumPy
        _put(value.item(), words, data, depth + 1)
        return
    buffer = Buffer(value)
    code = buffer.format.lstrip("@=<>!")
    words.append(f"a{code}{buffer.itemsize}:" + "x".join(map(str, buffer.shape)))
    data.append(("", buffer))


def _put(value: Any, words: List[str], data: List[Piece], depth: int) -> None:
    if depth > _DEPTH_MAX:
        raise ValueError(f"values are nested more than {_DEPTH_MAX} deep")
    if value is None:
        words.append("N")
    elif isinstance(value, bool):
        words.append("T" if value else "F")
    elif isinstance(value, int):
        _put_integer(int(value), words, data)
    elif isinstance(value, float):
        words.append("f")
        data.append(("double", array("d", [value])))
    elif isinstance(value, complex):
        words.append("c")
        data.append(("dcplx", array("d", [value.real, value.imag])))
    elif isinstance(value, str):
        encoded = value.encode("utf-8", "surrogatepass")
        words.append(f"s{len(encoded)}")
        data.append(("byte", encoded))
    elif isinstance(value, (bytes, bytearray)):
        words.append(f"y{len(value)}")
        data.append(("byte", value))
    elif isinstance(value, list):
        _put_sequence("[", value, words, data, depth)
    elif isinstance(value, tuple):
        _put_sequence("(", value, words, data, depth)
    elif isinstance(value, dict):
        words.append(f"{{{len(value)}")
        for pair in value.items():
            for item in pair:
                _put(item, words, data, depth + 1)
    else:
        _put_buffer(value, words, data, depth)


def take_apart(values: Tuple[Any, ...]) -> Tuple[bytes, List[Piece]]:
    """The text that describes the values, and their data. A piece without a type's name is a Buffer, to be released."""
    words: List[str] = []
    data: List[Piece] = []
    try:
        for value in values:
            _put(value, words, data, 0)
    except BaseException:
        release(data)
        raise
    return " ".join(words).encode("ascii"), data


def release(data: List[Piece]) -> None:
    for kind, piece in data:
        if not kind:
            piece.release()


# ---- unpacking ----

Unpack = Callable[[str, Any], None]
"""Fills an object with the buffer protocol by pvm_upk...; "" stands for the type that its items have."""


def _bytes(count: int, unpack: Unpack) -> bytes:
    data = bytearray(count)
    if count:
        unpack("byte", data)
    return bytes(data)


def _run(code: str, kind: str, count: int, unpack: Unpack) -> Any:
    data = array(code, bytes(8 * count))
    unpack(kind, data)
    return data


def _array(word: str, unpack: Unpack) -> Any:
    head, _, lengths = word.partition(":")
    shape = tuple(map(int, lengths.split("x")))
    digits = head.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?")
    result = empty(head[: len(head) - len(digits)], shape, int(digits))
    if memoryview(result).nbytes:
        unpack("", result)
    return result


def _dict(words: Iterator[str], count: int, unpack: Unpack) -> Dict[Any, Any]:
    pairs = [(_get(words, unpack), _get(words, unpack)) for _ in range(count)]
    return dict(pairs)


def _get(words: Iterator[str], unpack: Unpack) -> Any:
    word = next(words)
    kind, rest = word[0], word[1:]
    if kind in "NTF":
        return {"N": None, "T": True, "F": False}[kind]
    if kind == "i":
        return _run("q", "long", 1, unpack)[0]
    if kind == "f":
        return _run("d", "double", 1, unpack)[0]
    if kind == "c":
        return complex(*_run("d", "dcplx", 2, unpack))
    if kind == "a":
        return _array(rest, unpack)
    count = int(rest)
    if kind == "I":
        return int(_bytes(count, unpack))
    if kind == "s":
        return _bytes(count, unpack).decode("utf-8", "surrogatepass")
    if kind == "y":
        return _bytes(count, unpack)
    if kind == "L":
        return _run("q", "long", count, unpack).tolist()
    if kind == "D":
        return _run("d", "double", count, unpack).tolist()
    if kind == "{":
        return _dict(words, count, unpack)
    items = [_get(words, unpack) for _ in range(count)]
    return tuple(items) if kind == "(" else items


def put_together(description: bytes, unpack: Unpack) -> Tuple[Any, ...]:
    """The values that the description tells of. NotValues if it makes no sense."""
    words = iter(description.decode("ascii").split())
    values = []
    try:
        while True:
            try:
                value = _get(words, unpack)
            except StopIteration:
                break
            values.append(value)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise NotValues(f"the message describes its values wrongly: {error}") from error
    return tuple(values)
