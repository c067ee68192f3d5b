"""How send() packs Python values into a message, and how they are unpacked; README.md describes the format.

A message begins with two ints, MAGIC and the length of a text, then that text as bytes: a word for each value, which
describes the data. The data follow, packed with PVM's types, so that machines of any kind can read them.
"""

from __future__ import annotations

from array import array
from math import prod
from typing import Any, Callable, Iterator, List, Tuple

from .buffers import IN_PLACE_MIN, Buffer, empty
from .errors import PvmError

MAGIC = 0x6450764D
_HEAD_BYTES = 2 * array("i").itemsize
_LONG = array("l").itemsize
_LONG_MIN, _LONG_MAX = -(2 ** (8 * _LONG - 1)), 2 ** (8 * _LONG - 1) - 1
_DEPTH_MAX = 100
_RUN_MIN = 4  # shortest sequence of ints or floats that is packed as one
_ALIGNMENT = 16  # bytes, of large arrays

Piece = Tuple[str, Any]
"""The packed form of a value: the name of the type for pvm_pk..., and an object with the buffer protocol."""


class NotValues(ValueError):
    """The message was not packed by send(), so its contents are unknown."""


# ---- packing ----


def _put_integer(value: int, words: List[str], data: List[Piece]) -> None:
    if _LONG_MIN <= value <= _LONG_MAX:
        words.append("i")
        data.append(("long", array("l", [value])))
    else:
        digits = b"%d" % value
        words.append(f"I{len(digits)}")
        data.append(("byte", digits))


def _put_sequence(open: str, items: Any, words: List[str], data: List[Piece], depth: int) -> None:
    kinds = {type(item) for item in items} if len(items) >= _RUN_MIN else set()
    if open == "[" and kinds == {int} and all(_LONG_MIN <= item <= _LONG_MAX for item in items):
        words.append(f"L{len(items)}")
        data.append(("long", array("l", items)))
    elif open == "[" and kinds == {float}:
        words.append(f"D{len(items)}")
        data.append(("double", array("d", items)))
    else:
        words.append(f"{open}{len(items)}")
        for item in items:
            _put(item, words, data, depth + 1)


def _bytes_of(piece: Any) -> int:
    return piece.nbytes if isinstance(piece, Buffer) else memoryview(piece).nbytes


def _align(words: List[str], data: List[Piece]) -> None:
    """Fills up the data so far, so that the next ones can be used where they are received."""
    missing = -sum(_bytes_of(piece) for _, piece in data) % _ALIGNMENT
    if missing:
        words.append(f"p{missing}")
        data.append(("byte", bytes(missing)))


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
    if buffer.nbytes >= IN_PLACE_MIN:
        _align(words, data)
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
    """The text that describes the values, and their data. A piece without a type's name is a Buffer, which the caller
    releases.
    """
    words: List[str] = []
    data: List[Piece] = []
    try:
        for value in values:
            _put(value, words, data, 0)
    except BaseException:
        release(data)
        raise
    description = " ".join(words).encode("ascii")
    return description + b" " * (-(_HEAD_BYTES + len(description)) % _ALIGNMENT), data


def release(data: List[Piece]) -> None:
    for kind, piece in data:
        if not kind:
            piece.release()


# ---- unpacking ----

Unpack = Callable[[str, Any], None]
"""Fills an object with the buffer protocol by pvm_upk...; "" stands for its items' own type."""

View = Callable[[str, int, Tuple[int, ...]], Any]
"""An array for the next items, by format, size and shape, that is where they were received; None: unpack them."""

_CONSTANTS = {"N": None, "T": True, "F": False}


class _Reader:
    """Unpacks value after value of a message, guided by its description."""

    def __init__(self, description: bytes, unpack: Unpack, view: View, length: int) -> None:
        self._words = iter(description.decode("ascii").split())
        self._unpack = unpack
        self._view = view
        self._left = length  # bytes: no description makes us allocate more than the message contains

    def __iter__(self) -> Iterator[Any]:
        for word in self._words:
            if not self._is_padding(word):
                yield self._value(word)

    def _next(self) -> Any:
        for word in self._words:
            if not self._is_padding(word):
                return self._value(word)
        raise ValueError("there are too few values")

    def _is_padding(self, word: str) -> bool:
        if word[0] == "p":
            self._bytes(int(word[1:]))
        return word[0] == "p"

    def _claim(self, nbytes: int) -> None:
        self._left -= nbytes
        if nbytes < 0 or self._left < 0:
            raise ValueError("there are too few bytes")

    def _bytes(self, count: int) -> bytes:
        self._claim(count)
        data = bytearray(count)
        if count:
            self._unpack("byte", data)
        return bytes(data)

    def _numbers(self, code: str, kind: str, count: int) -> Any:
        data = array(code)
        self._claim(data.itemsize * count)
        data.frombytes(bytes(data.itemsize * count))
        if count:
            self._unpack(kind, data)
        return data

    def _array(self, word: str) -> Any:
        head, _, lengths = word.partition(":")
        shape = tuple(map(int, lengths.split("x")))
        code = head.rstrip("0123456789")
        itemsize = int(head[len(code) :])
        self._claim(prod(shape) * itemsize)
        view = self._view(code, itemsize, shape) if prod(shape) * itemsize >= IN_PLACE_MIN else None
        if view is not None:
            return view
        result = empty(code, shape, itemsize)
        if prod(shape):
            self._unpack("", result)
        return result

    def _value(self, word: str) -> Any:
        kind, rest = word[0], word[1:]
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        if kind == "a":
            return self._array(rest)
        if kind == "i":
            return self._numbers("l", "long", 1)[0]
        if kind == "f":
            return self._numbers("d", "double", 1)[0]
        if kind == "c":
            return complex(*self._numbers("d", "dcplx", 2))
        return self._counted(kind, int(rest))

    def _counted(self, kind: str, count: int) -> Any:
        if kind == "I":
            return int(self._bytes(count))
        if kind == "s":
            return self._bytes(count).decode("utf-8", "surrogatepass")
        if kind == "y":
            return self._bytes(count)
        if kind == "L":
            return self._numbers("l", "long", count).tolist()
        if kind == "D":
            return self._numbers("d", "double", count).tolist()
        if kind == "[":
            return [self._next() for _ in range(count)]
        if kind == "(":
            return tuple(self._next() for _ in range(count))
        if kind == "{":
            return {self._next(): self._next() for _ in range(count)}
        raise ValueError(f"unknown kind {kind!r} of value")


def put_together(description: bytes, unpack: Unpack, view: View, length: int) -> Tuple[Any, ...]:
    """The values with this description in a message of so many bytes. Raises NotValues if it is malformed."""
    try:
        return tuple(_Reader(description, unpack, view, length))
    except (ValueError, IndexError, TypeError, RecursionError, PvmError) as error:
        raise NotValues(f"the message has a wrong description of its values: {error}") from error
