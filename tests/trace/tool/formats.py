"""Parsers of pvm-trace's output. Each raises AssertionError for faults that a viewer could stumble over."""
import collections
import importlib
import json
import os
import subprocess
import sys
import tempfile
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


def perfetto_reader():
    """protoc's module for Perfetto's format."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        run("protoc", f"--proto_path={here}", f"--python_out={folder}", "perfetto.proto")
        sys.path.insert(0, folder)
        module = importlib.import_module("perfetto_pb2")
        sys.path.remove(folder)
    return module


def known(message):
    """Whether the message and those in it have no fields that perfetto.proto lacks."""
    inner = [part for field, value in message.ListFields() if field.type == field.TYPE_MESSAGE
             for part in (value if field.label == field.LABEL_REPEATED else [value])]
    return not len(message.UnknownFields()) and all(known(part) for part in inner)


def perfetto(data):
    """Slices [(tid, name, begin event, start, end)] and arrows [(begin event, instant)] of a trace in Perfetto's format."""
    trace = perfetto_reader().Trace.FromString(data)
    assert known(trace), "unknown fields"
    names, categories, arguments = ({}, {}, {})
    tracks, open_slices, slices, flows, arrows, counters = {}, collections.defaultdict(list), [], {}, [], collections.defaultdict(list)
    assert trace.packet[0].sequence_flags & 1, "state begins"
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id
        data = packet.interned_data
        for table, entries_ in ((names, data.event_names), (categories, data.event_categories), (arguments, data.debug_annotation_names)):
            table.update({entry.iid: entry.name for entry in entries_})
        if packet.HasField("track_descriptor"):
            assert packet.track_descriptor.uuid not in tracks
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    for track in tracks.values():
        assert not track.HasField("thread") or any(t.process.pid == track.thread.pid for t in tracks.values() if t.HasField("process"))
    for packet in sorted((p for p in trace.packet if p.HasField("track_event")), key=lambda p: p.timestamp):
        event = packet.track_event
        track = tracks[event.track_uuid]
        if event.type == event.TYPE_COUNTER:
            assert track.HasField("counter") and event.counter_value >= 0
            counters[track.name].append(event.counter_value)
            continue
        assert track.HasField("thread"), event
        if event.type == event.TYPE_SLICE_END:
            begin, start = open_slices[event.track_uuid].pop()
            slices.append((track.thread.tid, names[begin.name_iid], begin, start, packet.timestamp))
            continue
        assert event.name_iid in names and all(iid in categories for iid in event.category_iids)
        assert all(argument.name_iid in arguments for argument in event.debug_annotations)
        if event.type == event.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid].append((event, packet.timestamp))
            for flow in event.flow_ids:
                assert flow not in flows
                flows[flow] = event
        else:
            arrows += [(flows.pop(flow), event) for flow in event.terminating_flow_ids]
    assert not flows and not any(open_slices.values())
    assert sorted(counters) == ["bytes in flight", "messages in flight"] and all(v[-1] == 0 for v in counters.values())
    return slices, arrows, arguments


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
