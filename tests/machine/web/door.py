"""door.py closed|traced|control|many|slow PORT TOKEN - see door.sh."""
import http.client
import json
import socket
import sys
import time

what, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
TOKEN = {"X-Dpvm-Token": token}
COOKIE = {"Cookie": f"dpvm-web-{port}={token}"}
PATHS = ["/", "/index.html", "/app.js", "/style.css", "/icon.svg", "/state", "/events", "/add", "/spawn", "/kill", "/nowhere",
         "/../etc/passwd", "/%2e%2e/x", "/state?token=" + token, "/app.js?token=" + token, "//", "/state/"]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
GUARDS = ["Content-Security-Policy", "X-Content-Type-Options", "Cache-Control", "Referrer-Policy", "X-Frame-Options",
          "Cross-Origin-Resource-Policy"]
LIMIT_S = 120
bad = False


def check(title, good, seen=""):
    global bad
    if not good:
        print(f"{title}: {seen}")
        bad = True


def ask(method, path, headers=None, body=None, host="127.0.0.1"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    if host is not None:
        connection.putheader("Host", f"{host}:{port}")
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    data = answer.read() if answer.headers["Content-Type"] != "text/event-stream" else b""
    connection.close()
    return answer, data


def state():
    return json.loads(ask("GET", "/state", TOKEN)[1])


def eventually(title, get):
    end = time.monotonic() + LIMIT_S
    while not get() and time.monotonic() < end:
        time.sleep(0.1)
    check(title, get(), "not within the limit")


def nothing(title, answer, data, status):
    check(title, (answer.status, data) == (status, b""), (answer.status, data[:100]))


def check_no_byte():
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    for method in METHODS:
        for path in PATHS:
            for headers in ({}, {"X-Dpvm-Token": wrong}, {"X-Dpvm-Token": token[:-1]}, {"X-Dpvm-Token": token + "A"}, {"X-Dpvm-Token": ""},
                            {"Cookie": f"dpvm-web-{port}={wrong}"}, {"Cookie": f"dpvm-web-1={token}"}, {"Authorization": "Bearer " + token}):
                nothing(f"{method} {path} {headers}", *ask(method, path, headers), 401)
    nothing("a wrong token at the entrance", *ask("GET", "/?token=" + wrong), 401)
    nothing("the token at the entrance by POST", *ask("POST", "/?token=" + token, body=b""), 401)
    for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::2]", "", "x" * 5000):
        nothing(f"asked as {host[:30]}", *ask("GET", "/state", TOKEN, host=host), 403)
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{port + 1}", "http://localhost"):
        nothing(f"from {origin}", *ask("GET", "/state", {**TOKEN, "Origin": origin}), 403)


def check_entrance():
    answer, data = ask("GET", "/?token=" + token)
    nothing("the entrance", answer, data, 303)
    cookie = answer.headers["Set-Cookie"]
    check("the cookie", cookie == f"dpvm-web-{port}={token}; Path=/; HttpOnly; SameSite=Strict", cookie)
    check("leads to", answer.headers["Location"] == "/", answer.headers["Location"])
    for headers in (TOKEN, COOKIE):
        for path in ("/", "/app.js", "/style.css", "/state"):
            answer, data = ask("GET", path, headers)
            check(f"{path} with a token", answer.status == 200 and len(data) > 100, answer.status)
            for name in GUARDS:
                check(f"{name} of {path}", answer.headers[name], answer.headers.items())
            check(f"the policy of {path}", "'unsafe" not in answer.headers["Content-Security-Policy"])
    for name in ("localhost", "LOCALHOST", socket.gethostname()):
        check(f"asked as {name}", ask("GET", "/state", TOKEN, host=name)[0].status == 200)
    for path in ("/nowhere", "/../etc/passwd", "/%2e%2e/x", "//", "/add"):
        nothing(path, *ask("GET", path, TOKEN), 404)
    answer, data = ask("HEAD", "/", TOKEN)
    nothing("HEAD", answer, data, 200)
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        nothing(method, *ask(method, "/", TOKEN), 405)


def check_read_only():
    check("the state says so", state()["control"] is False and state()["key"] is None, state())
    before = [(t["tid"]) for t in state()["tasks"]]
    for action in ("add", "spawn", "kill"):
        for headers in (TOKEN, COOKIE, {**COOKIE, **TOKEN}):
            answer, data = ask("POST", "/" + action, headers, json.dumps({"hosts": ["127.0.0.2"], "program": "sleeper", "count": 1, "tid": before[0]}).encode())
            check(f"{action} without --control", answer.status == 403 and "without --control" in data.decode(), (answer.status, data))
    time.sleep(1.5) # a wrong server would have done it by now
    check("nothing has happened", [t["tid"] for t in state()["tasks"]] == before and len(state()["hosts"]) == 1, state()["tasks"])


def check_traced():
    eventually("what pvm run starts is traced", lambda: any(t["traced"] and t["name"].endswith("actor") for t in state()["tasks"]))
    consoles = [t for t in state()["tasks"] if t["name"] == "pvm" and t["traced"]]
    check("consoles are not", not consoles, consoles)


def check_control():
    key = {**COOKIE, "X-Dpvm-Token": state()["key"]}
    body = json.dumps({"program": "sleeper", "count": 1}).encode()
    for headers in (COOKIE, {**COOKIE, "X-Dpvm-Token": "x"}, {**COOKIE, "X-Dpvm-Token": key["X-Dpvm-Token"][:-1]}):
        answer, data = ask("POST", "/spawn", headers, body)
        check("a cookie is not enough", answer.status == 403, (answer.status, data))
    nothing("the key is no token", *ask("GET", "/state", {"X-Dpvm-Token": key["X-Dpvm-Token"]}), 401)
    nothing("another site", *ask("POST", "/spawn", {**key, "Origin": "http://evil.example"}, body), 403)
    for action, faulty in (("spawn", b""), ("spawn", b"x"), ("spawn", b"[]"), ("spawn", b"{}"), ("spawn", b'{"program":"sleeper","count":0}'),
                           ("spawn", b'{"program":"sleeper","count":20000}'), ("spawn", b'{"program":"","count":1}'), ("spawn", b'{"program":3,"count":1}'),
                           ("spawn", b'{"program":"sleeper","count":1,"arguments":[1]}'), ("spawn", b'{"program":"sleeper","count":1,"arguments":"x"}'),
                           ("add", b'{"hosts":[]}'), ("add", b'{"hosts":"h"}'), ("add", b'{"hosts":[1]}'), ("kill", b'{}'), ("kill", b'{"tid":-1}'),
                           ("kill", b'{"tid":"t40001"}'), ("nothing", b'{}'), ("", b'{}')):
        answer, data = ask("POST", "/" + action, key, faulty)
        check(f"{action} {faulty}", answer.status == 400 and json.loads(data)["error"], (answer.status, data))
    own = [t["tid"] for t in state()["tasks"] if t["own"]]
    check("itself cannot be killed", ask("POST", "/kill", key, json.dumps({"tid": own[0]}).encode())[0].status == 400)
    try:
        answer, data = ask("POST", "/spawn", key, b" " * 100000)
        check("a body that is too long", answer.status >= 400, answer.status)
    except (ConnectionError, http.client.HTTPException):
        pass
    answer, data = ask("POST", "/spawn", key, body)
    check("spawn", answer.status == 202 and json.loads(data)["request"] > 0, (answer.status, data))
    eventually("a sleeper", lambda: any(t["name"] == "sleeper" and not t["ended"] for t in state()["tasks"]))
    tid = next(t["tid"] for t in state()["tasks"] if t["name"] == "sleeper")
    check("kill", ask("POST", "/kill", TOKEN, json.dumps({"tid": tid}).encode())[0].status == 202)
    eventually("it has ended", lambda: all(t["ended"] for t in state()["tasks"] if t["name"] == "sleeper"))


def open_stream(receive_bytes=None):
    s = socket.socket()
    if receive_bytes:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    s.settimeout(LIMIT_S)
    s.connect(("127.0.0.1", port))
    s.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Dpvm-Token: {token}\r\n\r\n".encode())
    return s


def open_surely(receive_bytes=None):
    """A stream; those that have ended free their places when the server notices."""
    for _ in range(100):
        s = open_stream(receive_bytes)
        if s.recv(12) == b"HTTP/1.1 200":
            return s
        s.close()
        time.sleep(0.1)
    check("a stream", False)
    sys.exit(1)


def until_closed(s):
    """Bytes that come before the connection ends."""
    total = 0
    try:
        while data := s.recv(1 << 16):
            total += len(data)
    except ConnectionError:
        pass
    return total


def check_slow():
    slow, quick = open_surely(4096), open_surely()
    check("a flood", ask("POST", "/spawn", TOKEN, json.dumps({"program": "flood", "count": 4}).encode())[0].status == 202)
    seen, cuts, end = 0, 0, time.monotonic() + LIMIT_S
    while seen < 30 << 20 and time.monotonic() < end:
        data = quick.recv(1 << 20)
        seen += len(data)
        if not data: # this machine was busy elsewhere
            quick, cuts = open_surely(), cuts + 1
    check("a quick reader follows", seen >= 30 << 20 and cuts < 5, (seen, cuts))
    before = time.monotonic()
    state()
    print(f"{seen >> 20} MiB to a quick reader, cut {cuts} times; the state took {time.monotonic() - before:.2f} s meanwhile")
    got = until_closed(slow)
    check("a slow reader is cut", got < seen, (got, seen))
    quick.close()


def check_many():
    streams = [open_stream() for _ in range(20)]
    heads = [s.recv(20) for s in streams]
    check("streams", sum(b"200" in h for h in heads) == 16 and sum(b"503" in h for h in heads) == 4, heads)
    for s in streams:
        s.close()
    silent = [socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S) for _ in range(40)]
    for s in silent:
        s.sendall(b"GET /sta")
    check("an answer beside silent visitors", ask("GET", "/state", TOKEN)[0].status == 200)
    for s in silent: # each gets an end, and perhaps a word about the time limit, but nothing else
        check("a silent visitor is turned away", until_closed(s) < 1000)
    for s in silent:
        s.close()
    head = socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
    head.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 100000 + b"\r\n\r\n")
    try:
        check("a head that is too long", b" 200 " not in head.recv(100))
    except ConnectionError:
        pass
    eventually("an answer after all that", lambda: ask("GET", "/state", TOKEN)[0].status == 200)
    for address in ("127.0.0.2", "127.0.0.9"): # loopback has more addresses; only one is ours
        try:
            socket.create_connection((address, port), timeout=5).close()
            check(f"nobody listens at {address}", False)
        except ConnectionRefusedError:
            pass


if what == "closed":
    check_no_byte()
    check_entrance()
    check_read_only()
elif what == "traced":
    check_traced()
elif what == "control":
    check_control()
elif what == "many":
    check_many()
else:
    check_slow()
sys.exit(bad)
