from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from domain.money.plans import load_plans
from engines.finish.checks import Bounds
from runtime.concern import Concern, SettingsError
from runtime.settings import EMBEDDED_FILE, SHORTEST_PEPPER, DatabaseSettings, Settings, load_settings

PROJECT = Path(__file__).parents[2]


def test_the_stacks_file_is_found_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / EMBEDDED_FILE).write_text('TRYON_API_PORT="8123"\n')
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    assert load_settings().api.port == 8123


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / EMBEDDED_FILE).write_text('TRYON_API_PORT="8123"\n')
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TRYON_API_PORT", "9000")
    assert load_settings().api.port == 9000


HOSTILE = (
    *("", " ", "nonsense \N{SKULL AND CROSSBONES}", "-1", "0", "1e400", "nan", "inf", "9" * 30, "-" + "9" * 30),
    *("x" * 5000, "http://", "http://h:99999", "h:0", "a@b:c@d", "/dev/null", "line\nbreak", "*", "[::1", "../.."),
)
"""Values that somebody or something may leave in a variable."""

ANY_TEXT = {
    *("TRYON_MAIL_USER", "TRYON_MAIL_PASSWORD", "TRYON_RATE_LIMIT_URL", "TRYON_PAYMENTS_STRIPE_SECRET_KEY"),
    *("TRYON_PAYMENTS_STRIPE_WEBHOOK_SECRET", "TRYON_LICENCE_ACKNOWLEDGED", "TRYON_KLEIN_MODEL", "TRYON_S3_SECRET_KEY"),
    *("TRYON_TEMPORAL_API_KEY", "TRYON_TRACING_HEADERS", "TRYON_KEY_PEPPER", "TRYON_KEY_PEPPER_PREVIOUS"),
}
"""Of these no text is wrong by itself; whoever uses one says what is wrong with it."""


def every_setting() -> list[tuple[type[Concern], str]]:
    return [(concern, name) for concern in Settings.concerns().values() for name in concern.model_fields]


def refusal(monkeypatch: pytest.MonkeyPatch, concern: type[Concern], name: str, value: str) -> str | None:
    """What is said about it; None where it is taken."""
    with monkeypatch.context() as patch:
        patch.setenv(concern.variable(name), value)
        try:
            concern.load(None)
        except SettingsError as error:
            return str(error)
    return None


@pytest.mark.parametrize(("concern", "name"), every_setting())
def test_a_wrong_value_is_one_sentence(concern: type[Concern], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable, field = concern.variable(name), concern.model_fields[name]
    refused = 0
    for value in HOSTILE:
        said = refusal(monkeypatch, concern, name, value)
        if said is None:
            continue
        refused += 1
        assert said.startswith(f"{variable} is "), said
        assert "it has to be " in said, said
        assert said.endswith("."), said
        assert len(said.splitlines()) == 1, said
        assert len(said) < 500, said
        if "Secret" in str(field.annotation):
            assert value not in said or len(value) < 3
        elif "@" not in value and "://" not in value:
            assert repr(value[:50])[1:-1] in said
    assert refused or variable in ANY_TEXT, "no value is wrong: bound it, or name it above"
    assert not (refused and variable in ANY_TEXT)


@pytest.mark.parametrize(
    ("concern", "name"), [each for each in every_setting() if each[0].model_fields[each[1]].annotation in (int, float)]
)
def test_every_number_has_two_bounds_and_says_them(
    concern: type[Concern], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = concern.model_json_schema()["properties"][name]
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    highest = schema["maximum"]
    for value in (lowest - 1, highest + 1):
        said = refusal(monkeypatch, concern, name, str(value)) or ""
        assert f"{lowest} and at most {highest}." in said
    assert refusal(monkeypatch, concern, name, str(highest)) is None


def test_every_setting_that_is_wrong_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_API_PORT", "70000")
    monkeypatch.setenv("TRYON_API_HOST", "no host!")
    monkeypatch.setenv("TRYON_LOG_LEVEL", "loud")
    with pytest.raises(SettingsError) as refused:
        Settings()
    assert str(refused.value).splitlines() == [
        "TRYON_API_HOST is 'no host!'; it has to be the name or the IP address of a host.",
        "TRYON_API_PORT is '70000'; it has to be a whole number, at least 1 and at most 65535.",
        "TRYON_LOG_LEVEL is 'loud'; it has to be debug or info or warning or error.",
    ]


@pytest.mark.parametrize(
    "value",
    [
        "postgres://tryon:hunter2@db/tryon",
        "postgresql//tryon:hunter2@db.internal/tryon",
        "postgresql://tryon:hunter2@db:port/tryon",
        "tryon:hun@ter2@db",
    ],
)
def test_a_password_in_an_address_is_not_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = refusal(monkeypatch, DatabaseSettings, "url", value) or ""
    assert said.startswith("TRYON_DATABASE_URL is '[hidden]@db")
    assert "hun" not in said


def test_a_file_that_holds_no_plans_is_said_to_hold_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("no TOML", "[plans.trial]\nincluded = 'many'\n"):
        (tmp_path / "plans.toml").write_text(text)
        monkeypatch.setenv("TRYON_PLANS_FILE", str(tmp_path / "plans.toml"))
        with pytest.raises(
            SettingsError, match=r"^TRYON_PLANS_FILE is '.*plans\.toml'; it has to be a file of plans: "
        ):
            Settings().billing.plans(load_plans)


@pytest.mark.parametrize("concern", ["TRYON_KEY_PEPPER", "TRYON_KEY_PEPPER_PREVIOUS"])
def test_a_pepper_that_is_too_short_is_refused_and_not_shown(concern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_KEY_PEPPER", "p" * SHORTEST_PEPPER)
    monkeypatch.setenv(concern, "tiny")
    with pytest.raises(SettingsError, match=rf"^{concern} is wrong .* of at least 32 characters") as refused:
        Settings().security.peppers()
    assert "tiny" not in str(refused.value)


def test_every_setting_says_what_it_is_for() -> None:
    for concern in Settings.concerns().values():
        for name, field in concern.model_fields.items():
            assert field.description, f"{concern.__name__}.{name}"


def test_secrets_do_not_show_when_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_KEY_PEPPER", "very secret")
    monkeypatch.setenv("TRYON_S3_SECRET_KEY", "very secret")
    settings = Settings()
    assert "very secret" not in repr(settings.security) + repr(settings.object_store)


def test_nothing_else_reads_the_environment() -> None:
    allowed = {"runtime/settings.py", "cli/embedded.py"}
    allowed |= {
        "runtime/embedded/record.py",
        "runtime/embedded/supervisor.py",
        "imaging/decoder_pool.py",
    }  # what a process passes on to its own
    rooms = (
        "api",
        "workflows",
        "activities",
        "worker_cpu",
        "worker_gpu",
        "engines",
        "imaging",
        "domain",
        "runtime",
        "cli",
    )
    for room in rooms:
        for path in (PROJECT / room).rglob("*.py"):
            name = path.relative_to(PROJECT).as_posix()
            if name not in allowed:
                assert not re.search(r"os\.environ|getenv", path.read_text()), name


def test_bounds_of_checks_are_those_of_the_engines() -> None:
    assert Settings().checks.model_dump() == dataclasses.asdict(Bounds())


def test_bound_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_CHECK_FACE", "nan")
    with pytest.raises(SettingsError, match=r"^TRYON_CHECK_FACE is 'nan'; it has to be a number, at least -1 and"):
        Settings()
