"""Is a history of calls linearizable? After Wing and Gong, with the cache of Lowe, as in porcupine.

A history is a list of Call. The calls of one name of the mailbox are checked against a Mailbox; names do not influence
each other. A call without a result (its task was killed, or lost its daemon) may have happened at any time after its
beginning, or never.
"""

NONE = "none"  # the result of a call that finds no entry
STEPS_MAX = 2_000_000


class Call:
    def __init__(self, begin, end, op, value=None, result=None):
        """Times are comparable numbers; end is None if the outcome is unknown."""
        self.begin, self.end, self.op, self.value, self.result = begin, end, op, value, result

    def __repr__(self):
        what = self.op + (" " + self.value if self.value else "")
        return f"[{self.begin}, {'?' if self.end is None else self.end}] {what} -> {self.result or '?'}"


class Undecided(Exception):
    """The history has too many calls at once for this checker."""


def mailbox(state, call):
    """The entries of one name: a sorted tuple of (index, value). Returns the result and the state after the call."""
    if call.op == "put":
        rest = [entry for entry in state if entry[0] != 0]
        return "0", ((0, call.value), *rest)
    if call.op == "add":
        index = 0
        for taken, _ in state:
            index += taken == index
        return str(index), tuple(sorted((*state, (index, call.value))))
    at_zero = bool(state) and state[0][0] == 0
    if call.op == "get":
        return (state[0][1] if at_zero else NONE), state
    if call.op == "first":
        return (state[0][1] if state else NONE), state
    if call.op == "take":
        return (state[0][1] if state else NONE), state[1:]
    if call.op == "del":
        return ("0" if at_zero else NONE), (state[1:] if at_zero else state)
    raise ValueError(f"no operation {call.op}")


class _Event:
    """The begin or the end of a call, in a doubly linked list in order of time."""

    __slots__ = ("number", "call", "match", "prev", "next")

    def __init__(self, number, call):
        self.number, self.call, self.match, self.prev, self.next = number, call, None, None, None


def _link(calls):
    events = []
    for number, call in enumerate(calls):
        begin, end = _Event(number, call), _Event(number, None)
        begin.match = end
        events.append((call.begin, 0, number, begin))
        events.append((float("inf") if call.end is None else call.end, 1, number, end))
    head = last = _Event(-1, None)
    for *_, event in sorted(events, key=lambda e: e[:3]):  # at equal times begins come first: less is claimed
        last.next, event.prev = event, last
        last = event
    return head


def _lift(event):
    for e in (event, event.match):
        e.prev.next = e.next
        if e.next:
            e.next.prev = e.prev


def _unlift(event):
    for e in (event.match, event):
        e.prev.next = e
        if e.next:
            e.next.prev = e


def is_linearizable(calls, model=mailbox, state=()):
    """Whether an order of the calls exists that respects time and the model. May raise Undecided."""
    head = _link(calls)
    known = sum(1 << n for n, call in enumerate(calls) if call.end is not None)
    done, path, seen, steps = 0, [], {(0, state)}, 0
    event = head.next
    while known & ~done:
        steps += 1
        if steps > STEPS_MAX:
            raise Undecided(f"{len(calls)} calls, {steps} steps")
        if event is not None and event.match is not None:  # a call that may be the next one
            result, after = model(state, event.call)
            key = (done | 1 << event.number, after)
            if (event.call.end is None or result == event.call.result) and key not in seen:
                seen.add(key)
                path.append((event, done, state))
                done, state = key
                _lift(event)
                event = head.next
            else:
                event = event.next
        else:  # the end of a call that is not in the order: the last choice was wrong
            if not path:
                return False
            event, done, state = path.pop()
            _unlift(event)
            event = event.next
    return True
