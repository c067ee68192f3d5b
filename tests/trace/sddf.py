#!/usr/bin/env python3
"""sddf.py REFERENCE DPVM - compares two SDDF files written by tracer: the same events of the same tasks. Times, buffer
numbers, addresses and the creation date differ between runs and are omitted; tids become t1, t2, ... in order of
appearance in each task's events. Comments explain each further omission.
"""
import re
import sys

LEFT_OUT = {'TS', 'TU', 'MB', 'MSB', 'MRB', 'PDA', 'TN'}  # TN: programs from a shell have no name in the reference
TIDS = {'TID', 'PT', 'MT', 'DST', 'SRC', 'RST', 'MDL', 'STL', 'TT'}


def values(text):
    """The values of a record; arrays as lists."""
    found = []
    for array, inside, single in re.findall(r'(\[\d+\] (?:\[\d+\] )?)\{([^}]*)\}|([^,{}\[\]]+)', text):
        if array:
            found.append([v.strip() for v in inside.split(',') if v.strip()])
        elif single.strip():
            found.append(single.strip())
    return found


def check_time(path, times, name, fields):
    """1 if an event of a task is earlier than the one before. The tracer stamps output with the time of any event, and
    an event of the program has the time of its start.
    """
    now, before = (int(fields['TS']), int(fields['TU'])), times.get(fields['TID'], (0, 0))
    if name.startswith(('output', 'user_defined')):
        return 0
    times[fields['TID']] = now
    if now < before:
        print(f'{path}: timestamps decrease: {name} of {fields["TID"]} at {now}, after {before}')
    return now < before


def read(path):
    """The descriptions, each task's events in order, and how often times decrease within a task."""
    text = open(path, errors='replace').read()
    forms = {name: re.findall(r'(\w+) "(\w+)"((?:\[\])*);', body)
             for name, body in re.findall(r'#\d+: "([^"]+)"\n\{\n(.*?)\n\};;', text, re.S)}
    names, tasks, times, decreasing = {}, {}, {}, 0
    meanings = set(re.findall(r'// ("\w+" "[^"]+")', text))
    for name, body in re.findall(r'^"([^"]+)" \{ (.*) \};;$', text, re.M):
        form = forms[name]
        fields = dict(zip([f[1] for f in form], values(body)))
        if len(fields) != len(form):
            sys.exit(f'{path}: {name} has {len(fields)} values: {body}')
        tid = fields['TID']
        decreasing += check_time(path, times, name, fields)
        shown = []
        for field, value in fields.items():
            if field in LEFT_OUT:
                continue
            if field in TIDS and isinstance(value, list):
                value = [names.setdefault(v, f't{len(names) + 1}') for v in value]
            elif field in TIDS and int(value) > 0x40000:
                value = names.setdefault(value, f't{len(names) + 1}')
            if field == 'MNB' and fields.get('DST') == '-1111':
                continue  # an event of the program is sent with less padding
            shown.append(f'{field}={value}')
        tasks.setdefault(tid, []).append(f'{name} ' + ' '.join(shown))
    return forms, meanings, [sorted(events) if len(events) < 3 else events for events in tasks.values()], decreasing


def main():
    forms, meanings, tasks, decreasing = read(sys.argv[1])
    our_forms, our_meanings, our_tasks, problems = read(sys.argv[2])
    problems += decreasing
    for name in sorted(set(forms) | set(our_forms)):
        if forms.get(name) != our_forms.get(name):
            print(f'{name}: {forms.get(name)} in the reference, {our_forms.get(name)} here')
            problems += 1
    if meanings != our_meanings:
        print('meanings differ:', meanings ^ our_meanings)
        problems += 1
    if len(tasks) != len(our_tasks):
        print(f'{len(tasks)} tasks in the reference, {len(our_tasks)} here')
        problems += 1
    for theirs, ours in zip(tasks, our_tasks):
        for a, b in zip(theirs + ['(nothing)'] * len(ours), ours + ['(nothing)'] * len(theirs)):
            if a != b:
                print(f'{a}\n    here: {b}')
                problems += 1
    print(sum(map(len, our_tasks)), 'events compared')
    sys.exit(problems > 0 or not our_tasks)


main()
