"""Do all members agree on each barrier?

Each barrier of `count` members that succeeds has one moment at which `count` tasks are in it. A list of Visit is checked:
each success belongs to exactly one group of `count` visits of different tasks that overlap in time. A visit of a killed
task has no end, and may belong to such a group.
"""


class Visit:
    def __init__(self, task, begin, end, code):
        """end and code are None if the task was killed in it."""
        self.task, self.begin, self.end, self.code = task, begin, end, code

    def __repr__(self):
        return f"{self.task} [{self.begin}, {'?' if self.end is None else self.end}] -> {self.code}"


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
        group = [first]
        ahead[first.task].remove(first)
        others = [own[0] for task, own in ahead.items() if own and task != first.task and own[0].begin <= first.end]
        others.sort(key=lambda v: (v.end is None, v.end or 0))  # survivors before the killed
        group += others[: count - 1]
        if len(group) < count:
            return f"only {len(group)} of {count} were in the barrier that {first} passed: {group}"
        if max(v.begin for v in group) > min(v.end for v in group if v.end is not None):
            return f"these were never together in a barrier: {group}"
        for v in group[1:]:
            ahead[v.task].pop(0)
        grouped.update(group)
    return None
