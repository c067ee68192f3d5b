"""Parsers of pvm-trace's output. Each raises AssertionError for faults that a viewer could stumble over."""
import collections
import json
import subprocess
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def run(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


def lines(path):
    """All lines of a trace file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def entries(trace):
    """How often each task entered each call: {(tid, event): count}."""
    return collections.Counter((line["tid"], line["event"]) for line in trace if line.get("phase") == "entry")


def chrome(text):
    """The slices and the arrows {id: (start, finish)} of a Chrome trace."""
    events = json.loads(text)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    last = {}
    for event in slices:
        track = event["pid"], event["tid"]
        assert event["dur"] >= 0, event
        assert event["ts"] >= last.get(track, 0), event
        last[track] = event["ts"]
    arrows = {}
    for event in events:
        if event["ph"] == "s":
            assert event["id"] not in arrows, event
            arrows[event["id"]] = [event]
        elif event["ph"] == "f":
            arrows[event["id"]].append(event)
    for arrow in arrows.values():
        assert len(arrow) == 2 and arrow[1]["ts"] >= arrow[0]["ts"] and arrow[1]["bp"] == "e", arrow
    counters = [event for event in events if event["ph"] == "C"]
    assert all(value >= 0 for event in counters for value in event["args"].values())
    for name in ("bytes in flight", "messages in flight"):
        values = [list(event["args"].values())[0] for event in counters if event["name"] == name]
        assert not values or values[-1] == 0, (name, values[-1])
    named = {(event["pid"], event["tid"]) for event in events if event.get("name") == "thread_name"}
    assert all((event["pid"], event["tid"]) in named for event in slices)
    assert {event["ph"] for event in events} <= set("MXsfC")
    return slices, arrows


def split(line):
    """The words of a line of Paje; a quoted text is one word."""
    words, rest = [], line.strip()
    while rest:
        if rest[0] == '"':
            word, rest = rest[1:].split('"', 1)
        else:
            word, _, rest = rest.partition(" ")
        words.append(word)
        rest = rest.strip()
    return words


def paje(text):
    """The numbers of pushed states by (container, value), and of links."""
    kinds, current, records = {}, None, []
    for line in text.splitlines():
        if line.startswith("%EventDef"):
            _, name, number = line.split()
            current = kinds[number] = (name, [])
        elif line.startswith("%EndEventDef"):
            current = None
        elif line.startswith("%"):
            current[1].append(line.split()[1])
        else:
            words = split(line)
            name, fields = kinds[words[0]]
            assert len(words) - 1 == len(fields), line
            records.append((name, dict(zip(fields, words[1:]))))
    return paje_records(records)


def paje_records(records):
    types, values, containers, depth, links = set("0"), set(), {"0"}, collections.Counter(), {}
    states, done, now = collections.Counter(), 0, 0.0
    for name, fields in records:
        if "Time" in fields:
            assert float(fields["Time"]) >= now, fields
            now = float(fields["Time"])
        if name.startswith("PajeDefine"):
            assert fields["Type"] in types, fields
            (values if name == "PajeDefineEntityValue" else types).add(fields["Alias"])
            continue
        assert fields["Type"] in types, fields
        assert name == "PajeDestroyContainer" or fields["Container"] in containers, fields
        if name == "PajeCreateContainer":
            containers.add(fields["Alias"])
        elif name == "PajeDestroyContainer":
            assert depth[fields["Name"]] == 0, fields
            containers.remove(fields["Name"])
        elif name == "PajePushState":
            assert fields["Value"] in values, fields
            depth[fields["Container"]] += 1
            states[fields["Container"], fields["Value"]] += 1
        elif name == "PajePopState":
            depth[fields["Container"]] -= 1
            assert depth[fields["Container"]] >= 0, fields
        elif name == "PajeStartLink":
            assert fields["Key"] not in links and fields["StartContainer"] in containers, fields
            links[fields["Key"]] = fields
        elif name == "PajeEndLink":
            links.pop(fields["Key"])
            done += 1
            assert fields["EndContainer"] in containers, fields
    assert not links and not any(depth.values())
    return states, done


def svg(text):
    """The root element of a picture."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == SVG + "svg"
    width, height = (float(value) for value in root.get("viewBox").split()[2:])
    for rect in root.iter(SVG + "rect"):
        assert float(rect.get("width")) >= 0 and float(rect.get("height")) >= 0
        assert -1 <= float(rect.get("x", 0)) <= width and -1 <= float(rect.get("y", 0)) <= height
    return root
