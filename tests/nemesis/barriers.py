"""Do all members agree on each barrier?

Each barrier of `count` members that succeeds has one moment at which `count` tasks are in it. A list of Visit is
checked: each success belongs to exactly one group of `count` visits of different tasks that overlap in time. The last
visit of a task that was killed may belong to such a group, too, until the task was known to be dead.
"""


class Visit:
    def __init__(self, task, begin, end, code):
        """code is None if the task was killed in it; end is then the time at which that was known."""
        self.task, self.begin, self.end, self.code = task, begin, end, code

    def __repr__(self):
        return f"{self.task} [{self.begin}, {self.end}] -> {'killed' if self.code is None else self.code}"


def _group(ahead, first, count):
    """The visits of the barrier of `first`: the next success of each other task that overlaps; of the killed, as many as
    are missing and overlap with all of these, those that were dead first."""
    next_ones = [own[0] for task, own in ahead.items() if own and task != first.task and own[0].begin <= first.end]
    group = [first, *sorted((v for v in next_ones if v.code is not None), key=lambda v: v.end)[: count - 1]]
    for killed in sorted((v for v in next_ones if v.code is None), key=lambda v: v.end):
        together = max(v.begin for v in group) <= killed.end and killed.begin <= min(v.end for v in group)
        if len(group) < count and together:
            group.append(killed)
    return group


def disagreement(visits, count):
    """None if all agree, else what is wrong. `visits` holds each task's in order."""
    ahead = {}
    for v in sorted(visits, key=lambda v: v.begin):
        if v.code is None or v.code >= 0:  # those that failed with a code are in no barrier that succeeded
            ahead.setdefault(v.task, []).append(v)
    successes = sorted((v for v in visits if v.code is not None and v.code >= 0), key=lambda v: v.end)
    grouped = set()
    for first in successes:
        if first in grouped:
            continue
        ahead[first.task].remove(first)
        group = _group(ahead, first, count)
        if len(group) < count:
            return f"only {len(group)} of {count} were in the barrier that {first} passed: {group}"
        if max(v.begin for v in group) > min(v.end for v in group):
            return f"these were never together in a barrier: {group}"
        for v in group[1:]:
            ahead[v.task].pop(0)
        grouped.update(group)
    return None
