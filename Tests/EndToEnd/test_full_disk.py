"""No room for a commit, for a while; or a file system that takes no writes any more (S11)."""

import os
import resource
import subprocess

import pytest

from gateway import outgoing, until
from operating import Client, as_user, first_people


class TestFullDisk:
    def check(self, gateway, ann: Client, fill, free) -> None:
        """Sends are refused while there is no room and only then; reads and the rest go on."""
        send = lambda text: ann("POST", "/v1/messages", outgoing("bob", text) | {"receiverType": "user"})  # noqa: E731
        kept = send("kept").data["id"]
        fill()
        refused = None
        for number in range(400):
            done = send(f"{number} " + "x" * 15_000)
            if done.status >= 400:
                refused = done.error
                break
            kept = done.data["id"]
        assert refused and refused["code"] == "ERR_STORE_UNAVAILABLE" and refused["retryable"] is True
        assert ann("GET", f"/v1/messages/{kept}").data["id"] == kept
        assert len(ann("GET", "/v1/messages", query={"uid": "bob", "limit": 5}).data) > 0
        assert gateway.request("GET", "/readyz").status == 503
        assert gateway.request("GET", "/healthz").status == 200
        free()
        until(lambda: gateway.request("GET", "/readyz").status == 200, 10)
        assert send("again").data["id"] > kept
        assert gateway.is_alive

    def test_S11_aFileSizeLimitIsAFullDisk(self, own_gateway):
        gateway = own_gateway().start()
        first_people(gateway)
        ann = as_user(gateway, "ann")
        pid = gateway.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        largest = max(path.stat().st_size for path in gateway.data.iterdir())
        self.check(
            gateway, ann,
            lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + 60_000, limits[1])),
            lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, limits),
        )  # fmt: skip
        gateway.stop()

    def test_S11_aFullFileSystem(self, own_gateway, tmp_path):
        room = tmp_path / "data"
        room.mkdir(mode=0o700)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", room], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("a small file system can be mounted by root only")
        gateway = own_gateway(data="data/store")
        try:
            gateway.start()
            first_people(gateway)
            filler = room / "filler"

            def fill() -> None:
                free = os.statvfs(room)
                filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_bsize - 200_000))

            self.check(gateway, as_user(gateway, "ann"), fill, filler.unlink)
            gateway.stop()
        finally:
            gateway.kill()
            subprocess.run(["umount", "--lazy", room], check=True, capture_output=True)


class TestReadOnly:
    def test_S11_aFileSystemThatTurnsReadOnlyUnderARunningGateway(self, own_gateway, tmp_path):
        """What ext4 does after an error of its device: every write fails, what is there can be read."""
        image, room = tmp_path / "image", tmp_path / "data"
        room.mkdir(mode=0o700)
        with image.open("wb") as file:
            file.truncate(64 << 20)
        if subprocess.run(["mkfs.ext4", "-q", image], capture_output=True).returncode != 0:
            pytest.skip("there is no mkfs.ext4")
        if subprocess.run(["mount", "-o", "loop", image, room], capture_output=True).returncode != 0:
            pytest.skip("a file system of its own can be mounted by root only, where loop devices are")
        gateway = own_gateway(data="data/store")
        try:
            gateway.start()
            first_people(gateway)
            ann = as_user(gateway, "ann")
            send = lambda text: ann("POST", "/v1/messages", outgoing("bob", text) | {"receiverType": "user"})  # noqa: E731
            kept = [send(f"kept {number}").data["id"] for number in range(20)]
            subprocess.run(["mount", "-o", "remount,abort", room], check=True, capture_output=True)
            for _ in range(3):
                refused = send("refused")
                assert refused.status == 503
                assert refused.error["code"] == "ERR_STORE_UNAVAILABLE" and refused.error["retryable"] is True
            assert [row["id"] for row in ann("GET", "/v1/messages", query={"uid": "bob"}).data] == kept
            assert gateway.request("GET", "/readyz").status == 503
            assert gateway.request("GET", "/healthz").status == 200
            gateway.stop()
            # The operator's part: unmount, check, mount again, start.
            subprocess.run(["umount", room], check=True, capture_output=True)
            subprocess.run(["fsck.ext4", "-p", image], capture_output=True)
            subprocess.run(["mount", "-o", "loop", image, room], check=True, capture_output=True)
            gateway.start()
            ann = as_user(gateway, "ann")
            assert [row["id"] for row in ann("GET", "/v1/messages", query={"uid": "bob"}).data] == kept
            assert send("again").data["id"] > kept[-1]
            gateway.stop()
        finally:
            gateway.kill()
            subprocess.run(["umount", "--lazy", room], capture_output=True)
