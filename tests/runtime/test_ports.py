from __future__ import annotations

import socket

import pytest

from runtime.embedded.servers import PortInUseError, choose_port, is_free
from tests.servers.processes import free_port


def test_a_free_port_is_taken_as_wanted() -> None:
    port = free_port()
    assert choose_port(port, named=True, what="a test") == port


def test_a_default_port_in_use_moves_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert not is_free(port)
        assert choose_port(port, named=False, what="a test") > port


def test_a_named_port_in_use_is_refused_with_its_number() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUseError, match=str(port)):
            choose_port(port, named=True, what="a test")


def test_every_port_of_a_block_has_to_be_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        above = taken.getsockname()[1]
        assert choose_port(above - 3, named=False, offsets=(0, 3), what="a test") != above - 3
