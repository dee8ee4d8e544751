"""What every concern shares: how it is read, and what is said where a value cannot be."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from runtime.redaction import redact_text

LONGEST_SHOWN = 100
"""Characters of a wrong value; the rest helps nobody."""

_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")


class SettingsError(SystemExit):
    """Settings are wrong: a line for each names the variable, its value unless it is a secret, and what it may be.

    Whoever does not catch it ends with these lines on standard error and exit code 1, without a traceback, which
    would tell an operator nothing more.
    """


class Concern(BaseSettings):
    """A group of settings with a common prefix; each field's docstring says why the number is that number."""

    model_config = SettingsConfigDict(
        extra="ignore", use_attribute_docstrings=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    title: ClassVar[str]

    @classmethod
    def load(cls, embedded_file: Path | None) -> Self:
        """Read the environment, and a file of variables that the environment wins over.

        Raises:
            SettingsError: A value cannot be.
        """
        try:
            return cls(_env_file=embedded_file)
        except ValidationError as error:
            raise SettingsError("\n".join(cls._told(error))) from None

    def refusal(self, name: str, admitted: str) -> SettingsError:
        """What to raise where a value turns out to be wrong only when it is used."""
        return SettingsError(self._sentence(name, getattr(self, name), admitted))

    @classmethod
    def variable(cls, name: str) -> str:
        """The environment variable of a field."""
        return f"{cls.model_config.get('env_prefix', '')}{name}".upper()

    @classmethod
    def _told(cls, error: ValidationError) -> list[str]:
        lines = []
        for each in error.errors(include_url=False):
            own_words = str(each["ctx"]["error"]) if each["type"] == "value_error" else None
            if not each["loc"]:  # said of several together, which it names by itself
                lines.append(own_words or each["msg"])
                continue
            name = str(each["loc"][0])
            schema = cls.model_json_schema()["properties"][name]
            lines.append(cls._sentence(name, each["input"], own_words or _admitted(schema)))
        return lines

    @classmethod
    def _sentence(cls, name: str, value: object, admitted: str) -> str:
        annotation = cls.model_fields[name].annotation
        if SecretStr in (annotation, *get_args(annotation)):
            return f"{cls.variable(name)} is wrong (its value is a secret); it has to be {admitted}."
        # What stands before an @ may be a password, however the rest is spelled.
        text = redact_text(re.sub(r".*@", "[hidden]@", str(value), flags=re.DOTALL))
        return f"{cls.variable(name)} is {text[:LONGEST_SHOWN]!r}; it has to be {admitted}."


def _admitted(schema: Mapping[str, Any]) -> str:
    """What a field takes, from its JSON schema."""
    schema = next((each for each in schema.get("anyOf", ()) if each["type"] != "null"), schema)
    if "enum" in schema:
        return " or ".join(schema["enum"])
    match schema["type"]:
        case "boolean":
            return "true or false"
        case "integer" | "number" as kind:
            bounds = (("above", "exclusiveMinimum"), ("at least", "minimum"), ("at most", "maximum"))
            told = " and ".join(f"{word} {schema[bound]}" for word, bound in bounds if bound in schema)
            return f"a {'whole ' if kind == 'integer' else ''}number{', ' if told else ''}{told}"
    if schema.get("format") == "uri":
        return "an address that begins with http:// or https://"
    if "pattern" in schema:
        return f"a text that matches {schema['pattern']}"
    return f"a text of {schema.get('minLength', 0)} to {schema.get('maxLength', 'any number of')} characters"


def _host(value: str) -> str:
    try:
        ip_address(value.strip("[]"))
    except ValueError:
        if _HOST_NAME.fullmatch(value) is None:
            raise ValueError("the name or the IP address of a host") from None
    return value


def _host_and_port(value: str) -> str:
    host, _, port = value.rpartition(":")
    try:
        _host(host)
        if not port.isdecimal() or not 1 <= int(port) <= 65535:
            raise ValueError(port)
    except ValueError:
        raise ValueError("host:port, such as 127.0.0.1:9464, with a port from 1 to 65535") from None
    return value


def _web_address(value: str) -> str:
    address = _parsed(value)
    if address is None or address[0] not in ("http", "https"):
        raise ValueError("an address of the form http://host:port or https://host:port")
    return value


def _origin(value: str) -> str:
    if urlsplit(_web_address(value)).path.strip("/"):
        raise ValueError("an address of the form http://host:port or https://host:port, without a path")
    return value


def _database_url(value: str) -> str:
    scheme, _, rest = value.partition("://")
    kind = scheme.partition("+")[0]  # releases before 0.6 named a driver too
    remote = kind == "postgresql" and _parsed(value) is not None
    if not remote and not (kind == "sqlite" and rest.startswith("/") and len(rest) > 1):
        raise ValueError("of the form sqlite:///file or postgresql://user:password@host/database")
    return f"{kind}://{rest}"


def _parsed(value: str) -> tuple[str, str] | None:
    """Scheme and host of an address that has both, and a port only if it can be one."""
    try:
        address = urlsplit(value)
        port = address.port
        host = _host(address.hostname or "")
    except ValueError:
        return None
    return None if port == 0 or re.search(r"\s", value) else (address.scheme, host)


def _folder(value: Path) -> Path:
    if _kind_of(value) not in (None, "folder"):
        raise ValueError("a folder, and this is none")
    return value


def _file(value: Path) -> Path:
    if _kind_of(value) != "file":
        raise ValueError("a file, and there is none")
    return value


def _kind_of(path: Path) -> str | None:
    """What lies there; None where nothing does."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, PermissionError):
        return None
    except (OSError, ValueError):  # no path at all, or one that leads through a file
        return "nonsense"
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _sender(value: str) -> str:
    if re.fullmatch(r"[^\s@]+@[^\s@]+|[^\r\n<>]*<[^\s@<>]+@[^\s@<>]+>", value) is None:
        raise ValueError("an address of mail, such as tryon@example.com")
    return value


Host = Annotated[str, AfterValidator(_host)]
"""Name or IP address."""

HostAndPort = Annotated[str, AfterValidator(_host_and_port)]
"""Such as ``127.0.0.1:9464`` or ``[::1]:9464``."""

WebAddress = Annotated[str, AfterValidator(_web_address)]
"""Base address over HTTP, with a path or without."""

OptionalWebAddress = Annotated[str, AfterValidator(lambda text: _web_address(text) if text else text)]
"""The same, or empty."""

Origin = Annotated[str, AfterValidator(_origin)]
"""Base address over HTTP, without a path."""

DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
"""SQLAlchemy's address of a database that the service can use."""

Folder = Annotated[Path, AfterValidator(_folder)]
"""A folder, there or to be made."""

Sender = Annotated[str, AfterValidator(_sender)]
"""Address of mail, with a name before it or without."""

File = Annotated[Path, AfterValidator(_file)]
"""A file that is there."""
