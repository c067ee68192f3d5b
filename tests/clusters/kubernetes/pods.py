#!/usr/bin/python3
"""pods.py - does what a kubelet would do with the templates of our manifests, for podman, which plays only pods.

  pods.py pod MANIFESTS COMPONENT NAME UID FOLDER    prints a pod made from the template of this component
  pods.py command MANIFESTS COMPONENT WHICH          prints a command, an argument a line: readinessProbe, livenessProbe
                                                     or preStop
  pods.py grace MANIFESTS COMPONENT                  prints terminationGracePeriodSeconds
  pods.py kill MS                                    waits for a daemon that is not there yet, and kills it MS later

podman 4.3 knows neither Secrets nor probes nor hooks, and shares an emptyDir between pods. So volumes become folders in
FOLDER, as a kubelet makes them: an emptyDir belongs to root and everybody may write to it; a Secret is a chain of
symbolic links to a file of root. /etc/passwd is that of the image: podman would add this user, as Kubernetes does not."""

import json
import math
import os
import shutil
import signal
import sys
import time

import yaml


def template(manifests, component):
    for document in yaml.safe_load_all(open(manifests)):
        if document["kind"] in ("StatefulSet", "Deployment"):
            if document["metadata"]["labels"]["app.kubernetes.io/component"] == component:
                return document["spec"]["template"]
    sys.exit(f"pods.py: no template of {component}")


def empty_folder(path):
    os.makedirs(path)
    os.chmod(path, 0o777)


def secret_folder(path, token, mode):
    version = os.path.join(path, "..2026_01_01")
    os.makedirs(version)
    shutil.copyfile(token, os.path.join(version, "token"))
    os.chmod(os.path.join(version, "token"), mode)
    os.symlink("..2026_01_01", os.path.join(path, "..data"))
    os.symlink("..data/token", os.path.join(path, "token"))


def make_volumes(spec, name, folder):
    for volume in spec["volumes"]:
        path = os.path.join(folder, name, volume["name"])
        if "emptyDir" in volume:
            empty_folder(path)
        else:
            secret_folder(path, os.path.join(folder, volume["secret"]["secretName"]), volume["secret"]["defaultMode"])
        volume.clear()
        volume.update(name=os.path.basename(path), hostPath={"path": path, "type": "Directory"})
    spec["volumes"].append({"name": "passwd", "hostPath": {"path": os.path.join(folder, "passwd"), "type": "File"}})


def resolve(container):
    """Gives variables the values of resource fields."""
    for variable in container.get("env", []):
        if "valueFrom" in variable:
            limit = container["resources"]["limits"][variable.pop("valueFrom")["resourceFieldRef"]["resource"][7:]]
            variable["value"] = str(math.ceil(float(limit)))


def pod(manifests, component, name, uid, folder):
    found = template(manifests, component)
    spec = found["spec"]
    container = spec["containers"][0]
    resolve(container)
    make_volumes(spec, name, folder)
    container["volumeMounts"].append({"name": "passwd", "mountPath": "/etc/passwd", "readOnly": True})
    for part in ("readinessProbe", "livenessProbe", "lifecycle", "ports", "resources"):
        container.pop(part, None)
    container["securityContext"].update(runAsUser=int(uid), runAsGroup=0)
    spec.pop("affinity", None)
    spec["restartPolicy"] = "Never"
    metadata = {"name": name, "labels": found["metadata"]["labels"]}
    print(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, indent=1))


def command(manifests, component, which):
    container = template(manifests, component)["spec"]["containers"][0]
    place = container["lifecycle"] if which == "preStop" else container
    print("\n".join(place[which]["exec"]["command"]))


def grace(manifests, component):
    print(template(manifests, component)["spec"]["terminationGracePeriodSeconds"])


def daemons():
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as comm:
                if comm.read() == "pvmd3\n":
                    found.add(int(pid))
        except OSError:
            pass  # it has ended meanwhile
    return found


def kill(ms):
    others, end = daemons(), time.monotonic() + 60
    print("waiting", flush=True)
    while not (new := daemons() - others):
        if time.monotonic() > end:
            sys.exit("pods.py: no daemon starts")
    time.sleep(int(ms) / 1000)
    os.kill(min(new), signal.SIGKILL)


{"kill": kill, "pod": pod, "command": command, "grace": grace}[sys.argv[1]](*sys.argv[2:])
