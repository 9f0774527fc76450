# SPDX-License-Identifier: LGPL-2.1-or-later
"""Check that the Kubernetes manifest has the permissions that tests/lanes/vm/job-image gives to the image, and
no other."""

from parts import ROOT

MANIFEST = ROOT / "packaging/kubernetes/base/speprof.yaml"
JOB = ROOT / "tests/lanes/vm/job-image"
# Rows: a field of the manifest, its expected value (None: the field is absent), and the option of
# podman in the job that has the same effect. "" means that the job has no option to compare.
POD = (
    ("hostPID", True, "--pid=host"),
    ("hostNetwork", None, "--network=none"),
    ("hostIPC", None, ""),
    ("securityContext", None, ""),
    ("initContainers", None, ""),
    ("automountServiceAccountToken", False, ""),
    ("volumes.run.emptyDir", {"medium": "Memory", "sizeLimit": "1Mi"}, "--tmpfs /run/speprof:size=1m"),
    ("volumes.tmp.emptyDir", {"medium": "Memory", "sizeLimit": "16Mi"}, "--tmpfs /tmp:size=16m"),
    ("volumes.cgroup.hostPath.path", "/sys/fs/cgroup", "-v /sys/fs/cgroup:/sys/fs/cgroup:ro"),
    ("volumes.pods.hostPath.path", "/var/log/pods", ""),
    ("volumes.containers.hostPath.path", "/var/log/containers", ""),
    ("volumes.credentials.secret.secretName", "speprof-exporter", "-v $secrets:/credentials:ro"),
)
CONTAINER = (
    ("securityContext.privileged", None, ""),
    ("securityContext.procMount", None, ""),
    ("securityContext.runAsUser", None, ""),
    ("securityContext.allowPrivilegeEscalation", False, "--security-opt=no-new-privileges"),
    ("securityContext.readOnlyRootFilesystem", True, "--read-only"),
    ("securityContext.capabilities.drop", ["ALL"], "--cap-drop=all"),
    ("volumeMounts.run.mountPath", "/run/speprof", "--tmpfs /run/speprof:"),
    ("volumeMounts.tmp.mountPath", "/tmp", "--tmpfs /tmp:"),
    ("volumeMounts.credentials.mountPath", "/credentials", "-v $secrets:/credentials:ro"),
    ("volumeMounts.cgroup.mountPath", "/sys/fs/cgroup", "-v /sys/fs/cgroup:/sys/fs/cgroup:ro"),
    ("volumeMounts.pods.mountPath", "/var/log/pods", ""),
    ("volumeMounts.containers.mountPath", "/var/log/containers", ""),
    *((f"volumeMounts.{name}.readOnly", True, "") for name in ("credentials", "cgroup", "pods", "containers")),
    ("env.CREDENTIALS_DIRECTORY.value", "/credentials", "-e CREDENTIALS_DIRECTORY=/credentials"),
)


def field(of, path):
    """Return the value at a path of names separated by dots. In a list, a name selects the item with this
    "name"."""
    for name in path.split("."):
        if isinstance(of, list):
            of = next((each for each in of if each.get("name") == name), None)
        else:
            of = (of or {}).get(name)
    return of


def complaints(text, job):
    # Import yaml here: a machine that runs only other checks may not have it.
    import yaml  # pylint: disable=import-outside-toplevel
    pods = [each["spec"]["template"]["spec"] for each in yaml.safe_load_all(text) if each["kind"] == "DaemonSet"]
    if len(pods) != 1 or len(pods[0]["containers"]) != 1:
        return ["it should have one DaemonSet of one container"]
    pod, container = pods[0], pods[0]["containers"][0]
    said = []
    for of, table in ((pod, POD), (container, CONTAINER)):
        for path, wanted, option in table:
            # A value that Kubernetes sets by default is expected as None. Compare the text, because in Python
            # true equals 1.
            if repr(field(of, path)) != repr(wanted):
                said.append(f"{path} is {field(of, path)}, should be {wanted}")
            if option not in job:
                said.append(f"{path}: tests/lanes/vm/job-image has no {option}")
    for of, table, many in ((pod, POD, "volumes"), (container, CONTAINER, "volumeMounts")):
        known = {path.split(".")[1] for path, _, _ in table if path.startswith(many + ".")}
        said += [f"{many} has {each['name']}, which is new here" for each in of[many] if each["name"] not in known]
    return said


def manifest_complaint():
    return "; ".join(complaints(MANIFEST.read_text(encoding="utf-8"), JOB.read_text(encoding="utf-8")))
