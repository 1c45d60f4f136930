"""The commands of deploy/README.md, run as they stand there."""

import os
import pathlib
import re
import subprocess

from gateway import Gateway, ROOT, clean_environment, program


def blocks(section: str) -> list[str]:
    """The indented blocks of a section, in order."""
    text = (ROOT / "deploy/README.md").read_text()
    body = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert body, section
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in re.findall(r"(?:^    .*\n)+", body[1], re.MULTILINE)]


class Runbook:
    """Runs blocks with the paths and the address of a test; `systemctl` starts and stops its gateway."""

    def __init__(self, gateway: Gateway, folder: pathlib.Path) -> None:
        self.gateway, self.folder = gateway, folder
        self.tools = folder / "tools"
        self.tools.mkdir()
        (self.tools / "threadcast").symlink_to(program())

    def run(self, script: str) -> str:
        assert "systemctl" not in script, "give such a block to `steps`"
        return self._shell(script)

    def steps(self, script: str) -> None:
        """A block with `systemctl` in it, line by line."""
        for command in re.split(r"(?<!\\)\n", script.strip()):
            if command == "systemctl stop threadcast":
                self.gateway.stop()
            elif command == "systemctl start threadcast":
                self.gateway.start()
            else:
                self._shell(command)

    def _shell(self, script: str) -> str:
        places = {
            "/var/lib/threadcast": str(self.gateway.data), "/var/backups/threadcast": str(self.folder / "backups"),
            "/usr/local/bin/threadcast": str(self.tools / "installed"), ".build/release/threadcast": program(),
        }  # fmt: skip
        for path, here in places.items():
            script = script.replace(path, here)
        if self.gateway.is_alive:
            script = script.replace("http://127.0.0.1:8080", self.gateway.url(""))
        environment = clean_environment() | {"PATH": f"{self.tools}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=60, env=environment
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout
