import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from gateway import Gateway  # noqa: E402


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> tuple[str, str]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    paths = str(folder / "certificate.pem"), str(folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        + ["-keyout", paths[1], "-out", paths[0]],
        check=True,
        capture_output=True,
    )
    return paths


@pytest.fixture(scope="session", params=["tcp", "tls"])
def gateway(request, tmp_path_factory, certificate):
    """A gateway that the tests share, once without and once with TLS. It must be alive and end well."""
    folder = tmp_path_factory.mktemp(request.param)
    running = Gateway(folder / "data", ("--dev", "--echo"), certificate if request.param == "tls" else None).start()
    yield running
    assert running.is_alive, f"the gateway died:\n{''.join(running.output[-60:])}"
    running.stop()


@pytest.fixture
def own_gateway(tmp_path):
    """Makes gateways that one test has for itself; they are gone when it ends."""
    made: list[Gateway] = []

    def make(*flags: str, certificate=None, data: str = "data") -> Gateway:
        made.append(Gateway(tmp_path / data, flags, certificate))
        return made[-1]

    yield make
    for running in made:
        running.kill()


@pytest.fixture
def ann(gateway):
    return gateway.new_user("ann")


@pytest.fixture
def bob(gateway):
    return gateway.new_user("bob")


@pytest.fixture
def cyd(gateway):
    return gateway.new_user("cyd")


@pytest.fixture
def group(gateway, ann, bob, cyd):
    """A private group of Ann (its owner), Bob and Cyd."""
    return gateway.new_group(ann, bob, cyd)
