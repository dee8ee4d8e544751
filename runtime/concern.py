"""The base of every concern: how settings are read, and what is said about wrong values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Self, get_args
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from runtime.redaction import redact_text

LONGEST_SHOWN = 100  # characters of a wrong value
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")


class SettingsError(SystemExit):
    """Settings are wrong: a line for each names the variable, its value unless it is a secret, and what it may be.

    Uncaught, it ends the process with these lines on standard error and exit code 1, without a traceback, which would
    not help an operator.
    """


class Concern(BaseSettings):
    """A group of settings with a common prefix; each field's docstring says why the number is that number."""

    model_config = SettingsConfigDict(
        extra="ignore", use_attribute_docstrings=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    @classmethod
    def load(cls, embedded_file: Path | None) -> Self:
        """Read the environment, and a file of variables that the environment wins over.

        Raises:
            SettingsError: A value is wrong.
        """
        try:
            return cls(_env_file=embedded_file)
        except ValidationError as error:
            raise SettingsError("\n".join(cls._told(error))) from None

    def refusal(self, name: str, admitted: str) -> SettingsError:
        """The error for a value that turns out to be wrong only when it is used."""
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
    """The values that a field takes, from its JSON schema."""
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


def _that(is_one: Callable[[Any], object], admitted: str) -> AfterValidator:
    """Refuses other values, and says which are admitted."""

    def check(value: Any) -> Any:
        if not is_one(value):
            raise ValueError(admitted)
        return value

    return AfterValidator(check)


def _is_host(value: str) -> bool:
    try:
        ip_address(value.strip("[]"))
    except ValueError:
        return _HOST_NAME.fullmatch(value) is not None
    return True


def _is_host_and_port(value: str) -> bool:
    host, _, port = value.rpartition(":")
    # Python takes no text of thousands of digits for a number.
    return _is_host(host) and port.isdecimal() and len(port) < 10 and 1 <= int(port) <= 65535


def _parsed(value: str) -> SplitResult | None:
    """An address that has a host, and a port only if it can be one."""
    try:
        address = urlsplit(value)
        sound = address.port != 0 and _is_host(address.hostname or "") and re.search(r"\s", value) is None
    except ValueError:
        return None
    return address if sound else None


def _is_web_address(value: str) -> bool:
    address = _parsed(value)
    return address is not None and address.scheme in ("http", "https")


def _networks(value: str) -> str:
    """In one spelling: the web server takes what it cannot read for a name, and says nothing."""
    try:
        return ",".join(
            str(ip_network(each.strip())).removesuffix("/32").removesuffix("/128")
            for each in value.split(",")
            if each.strip()
        )
    except ValueError:
        raise ValueError("IP addresses and networks (10.0.0.0/8) with commas between them") from None


def _database_url(value: str) -> str:
    scheme, _, rest = value.partition("://")
    kind = scheme.partition("+")[0]  # releases before 0.6 named a driver too
    remote = kind == "postgresql" and _parsed(value) is not None
    if not remote and not (kind == "sqlite" and rest.startswith("/") and len(rest) > 1):
        raise ValueError("of the form sqlite:///file or postgresql://user:password@host/database")
    return f"{kind}://{rest}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long to be a path
        return False


_WEB = "an address of the form http://host:port or https://host:port"
_MAIL = re.compile(r"[^\s@]+@[^\s@]+|[^\r\n<>]*<[^\s@<>]+@[^\s@<>]+>")

Host = Annotated[str, _that(_is_host, "the name or the IP address of a host")]
HostAndPort = Annotated[str, _that(_is_host_and_port, "host:port, such as 127.0.0.1:9464, with a port from 1 to 65535")]
WebAddress = Annotated[str, _that(_is_web_address, _WEB)]
OptionalWebAddress = Annotated[str, _that(lambda text: not text or _is_web_address(text), _WEB)]
Origin = Annotated[WebAddress, _that(lambda text: not urlsplit(text).path.strip("/"), f"{_WEB}, without a path")]
Networks = Annotated[str, AfterValidator(_networks)]
DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
Sender = Annotated[str, _that(_MAIL.fullmatch, "an address of mail, such as tryon@example.com")]
File = Annotated[Path, _that(_is_file, "a file, and there is none")]
