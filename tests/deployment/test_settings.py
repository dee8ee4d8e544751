"""Each of our services gets the settings it needs, and no others; names and ports agree with the code's."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
import typer
import yaml
from pydantic import SecretStr
from typer.main import get_command

from cli.main import app
from runtime.embedded.servers import temporal_command
from runtime.settings import ApiSettings, DashboardSettings, PaymentSettings, Settings
from tests.deployment import dockerfile
from tests.deployment.compose import FILE, OURS, PROJECT, Compose, environment_of, filled_in, read
from workflows.queues import SEARCH_ATTRIBUTES

ALL = frozenset(Settings.concerns())
DRAWING = frozenset({"object_store", "temporal"})
NEEDS = dict.fromkeys(OURS, ALL) | {"worker-warp": DRAWING, "worker-gpu": DRAWING}
NOT_FOR_DRAWING = {"TRYON_DATABASE_URL", "TRYON_KEY_PEPPER", "TRYON_RATE_LIMIT_URL"}
FOR_LINKS_ALONE = "TRYON_TEMPORAL_UI_URL"
MAIL = {"TRYON_DASHBOARD_NAME", "TRYON_DASHBOARD_PUBLIC_URL"}
"""What mail needs besides its own settings."""
FOR_THE_API_ALONE = {"TRYON_API_TRUSTED_PROXIES"}
LEFT_AS_IT_IS = {"TRYON_MAIL_TIMEOUT_SECONDS", "TRYON_PAYMENTS_TIMEOUT_SECONDS", "TRYON_PAYMENTS_STRIPE_API_BASE"}
"""What nobody but a test has a reason to change."""


def variable(concern: str, field: str) -> str:
    return (Settings.concerns()[concern].model_config.get("env_prefix", "") + field).upper()


def known_variables() -> set[str]:
    return {variable(name, field) for name, concern in Settings.concerns().items() for field in concern.model_fields}


def variables_of(*concerns: str) -> set[str]:
    return {variable(name, field) for name in concerns for field in Settings.concerns()[name].model_fields}


def meant_for_one_machine(default: object) -> bool:
    """Whether a default makes sense in `tryon up` alone."""
    if isinstance(default, SecretStr):
        return not default.get_secret_value()
    return isinstance(default, str) and ("127.0.0.1" in default or default.startswith("sqlite"))


def has_to_be_set(service: str) -> set[str]:
    found = {
        variable(name, field)
        for name in NEEDS[service] - {"api", "stack"}
        for field, about in Settings.concerns()[name].model_fields.items()
        if meant_for_one_machine(about.default)
    }
    return found - ({FOR_LINKS_ALONE} if NEEDS[service] == DRAWING else set())


def load(service: str, compose: Compose, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings as the process in the container reads them."""
    image = compose.services[service]["image"].removeprefix("tryon/").rpartition(":")[0]
    variables = dockerfile.read(dockerfile.FILE.read_text()).environment(image)
    for name, value in (variables | environment_of(compose.services[service])).items():
        if name.startswith("TRYON_"):
            monkeypatch.setenv(name, value)
    return Settings()


def test_some_settings_have_to_be_set() -> None:
    assert has_to_be_set("api") == {
        "TRYON_DATABASE_URL",
        "TRYON_S3_ENDPOINT",
        "TRYON_S3_SECRET_KEY",
        "TRYON_TEMPORAL_ADDRESS",
        "TRYON_TEMPORAL_UI_URL",
        "TRYON_KEY_PEPPER",
        "TRYON_KEY_PEPPER_PREVIOUS",
    }


@pytest.mark.parametrize("service", OURS)
def test_what_has_to_be_set_is_set_and_exists(service: str, compose: Compose) -> None:
    given = set(environment_of(compose.services[service]))
    assert given <= known_variables()
    assert has_to_be_set(service) <= given


@pytest.mark.parametrize("service", ["worker-warp", "worker-gpu"])
def test_who_draws_is_given_no_key_to_accounts_and_money(service: str, compose: Compose) -> None:
    assert not NOT_FOR_DRAWING & set(environment_of(compose.services[service]))


@pytest.mark.parametrize("service", OURS)
def test_the_settings_load_and_lead_to_other_services(
    service: str, compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(service, compose, monkeypatch)
    store_service, temporal = compose.services["object-store"], compose.services["temporal"]
    store = urlsplit(settings.object_store.endpoint)
    assert (store.hostname, store.port) == ("object-store", 9000)
    assert settings.object_store.access_key == store_service["environment"]["MINIO_ROOT_USER"]
    assert settings.object_store.secret_key.get_secret_value() == store_service["environment"]["MINIO_ROOT_PASSWORD"]
    assert settings.temporal.address == "temporal:7233" == f"temporal:{temporal['healthcheck']['test'][-1]}"
    if NEEDS[service] == DRAWING:
        return
    database = urlsplit(settings.database.url)
    postgres = compose.services["postgres"]["environment"]
    assert (database.scheme, database.hostname, database.port) == ("postgresql", "postgres", 5432)
    assert (database.username, database.password) == (postgres["POSTGRES_USER"], postgres["POSTGRES_PASSWORD"])
    assert database.path == f"/{postgres['POSTGRES_DB']}"
    assert settings.rate_limit.url is not None
    rates = urlsplit(settings.rate_limit.url.get_secret_value())
    assert (rates.scheme, rates.hostname, rates.port) == ("valkey", "valkey", 6379)
    assert rates.password == compose.services["valkey"]["command"][-1]
    assert len(settings.security.key_pepper.get_secret_value()) >= 32


def test_what_owners_meet_is_passed_to_those_who_read_it(compose: Compose) -> None:
    of_mail, of_pages = variables_of("mail") | MAIL, variables_of("dashboard", "payments") - MAIL
    told = {
        "api": (of_mail | of_pages | FOR_THE_API_ALONE) - LEFT_AS_IT_IS,
        "worker-cpu": of_mail - LEFT_AS_IT_IS,
    }
    for service in OURS:
        given = set(environment_of(compose.services[service]))
        assert given & (of_mail | of_pages | FOR_THE_API_ALONE) == told.get(service, set()), service


def test_without_a_word_about_them_mail_and_payment_are_off_and_a_link_leads_to_this_machine(
    compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load("api", compose, monkeypatch)
    assert (settings.mail.host, settings.mail.user, settings.mail.password) == (None, None, None)
    assert settings.payments == PaymentSettings()
    assert settings.dashboard == DashboardSettings()
    assert settings.dashboard.base_url(settings.api) == "http://127.0.0.1:8000"
    assert settings.api.trusted_proxies == ApiSettings().trusted_proxies


@pytest.mark.parametrize("service", ["api", "worker-cpu"])
def test_what_is_set_arrives(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "MAIL_HOST": "mail.example.com",
        "MAIL_PORT": "465",
        "MAIL_SECURITY": "tls",
        "MAIL_USER": "tryon",
        "MAIL_PASSWORD": "sesame",
        "MAIL_SENDER": "tryon@example.com",
        "SERVICE_NAME": "Wardrobe",
        "PUBLIC_URL": "https://tryon.example.com",
        "TRUSTED_PROXIES": "172.18.0.1",
        "PAYMENTS_PROVIDER": "stripe",
        "STRIPE_SECRET_KEY": "sk_test_0",
        "STRIPE_WEBHOOK_SECRET": "whsec_0",
    }
    settings = load(service, read(FILE.read_text(), filled_in() | given), monkeypatch)
    mail = settings.mail
    assert (mail.host, mail.port, mail.security, mail.user) == ("mail.example.com", 465, "tls", "tryon")
    assert mail.password is not None
    assert (mail.password.get_secret_value(), mail.sender) == ("sesame", "tryon@example.com")
    assert settings.dashboard.name == "Wardrobe"
    if service == "api":
        assert settings.dashboard.base_url(settings.api) == "https://tryon.example.com"
        assert settings.api.trusted_proxies == "172.18.0.1"
        assert settings.payments.provider == "stripe"
        assert settings.payments.stripe_secret_key is not None
        assert settings.payments.stripe_webhook_secret is not None


def test_the_published_port_is_the_one_that_the_api_listens_on(
    compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load("api", compose, monkeypatch)
    assert settings.api.host == "0.0.0.0"
    assert compose.services["api"]["ports"] == [f"127.0.0.1:8000:{settings.api.port}"]
    assert compose.services["api"]["healthcheck"]["test"][-1] == f"127.0.0.1:{settings.api.port}/readyz"


@pytest.mark.parametrize("service", ["worker-cpu", "worker-warp", "worker-gpu"])
def test_a_worker_is_asked_where_it_serves_its_metrics(
    service: str, compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = load(service, compose, monkeypatch).metrics
    own = metrics.worker_cpu_address if service == "worker-cpu" else metrics.worker_gpu_address
    assert own is not None
    port = own.rpartition(":")[2]
    # Workflows are polled for while every place for activities is taken; a worker without any has to be asked for both.
    busy = [] if service == "worker-cpu" else ["temporal_worker_task_slots_used"]
    asked = compose.services[service]["healthcheck"]["test"]
    assert asked[4:] == [f"127.0.0.1:{port}/metrics", "temporal_num_pollers", *busy]
    image = dockerfile.read(dockerfile.FILE.read_text()).health_command(service)
    assert image == asked[1:]


def test_links_lead_to_the_published_temporal_ui(compose: Compose, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load("api", compose, monkeypatch)
    host, port, _ = compose.services["temporal-ui"]["ports"][0].split(":")
    assert settings.temporal.ui_url == f"http://{host}:{port}"


def test_the_namespace_is_one_and_its_search_attributes_are_those_of_the_code(
    compose: Compose, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = environment_of(compose.services["temporal-namespace"])
    assert made["SEARCH_ATTRIBUTES"].split() == [key.name for key in SEARCH_ATTRIBUTES]
    page = (PROJECT / "docs" / "scaling.md").read_text()
    assert all(f"`{key.name}`" in page for key in SEARCH_ATTRIBUTES), "what to create in Temporal Cloud"
    for service in OURS:
        assert load(service, compose, monkeypatch).temporal.namespace == made["TEMPORAL_NAMESPACE"]
    assert compose.services["temporal-ui"]["environment"]["TEMPORAL_DEFAULT_NAMESPACE"] == made["TEMPORAL_NAMESPACE"]


def test_temporal_is_tuned_like_the_embedded_one(compose: Compose, tmp_path_factory: pytest.TempPathFactory) -> None:
    command = temporal_command(
        tmp_path_factory.mktemp("unused") / "db", port=1, ui_port=2, namespace="n", search_attributes=[]
    )
    embedded = {word for before, word in pairwise(command) if before == "--dynamic-config-value"}
    file = compose.services["temporal"]["environment"]["DYNAMIC_CONFIG_FILE_PATH"]
    mounted = compose.services["temporal"]["volumes"][0].split(":")
    written = yaml.safe_load((PROJECT / file.replace(mounted[1], mounted[0], 1)).read_text())
    [kept] = written.pop("history.hostLevelCacheMaxSize")
    ours = {f"{name}={str(entry['value']).lower()}" for name, (entry,) in written.items()}
    assert embedded - ours == {"history.hostLevelCacheMaxSize=500"}
    assert kept["value"] > 500


@pytest.mark.parametrize("service", ["migrations", "bucket"])
def test_what_runs_once_is_a_command(service: str, compose: Compose) -> None:
    program, group, command = compose.services[service]["command"]
    assert program == "tryon"
    groups = get_command(app)
    assert isinstance(groups, typer.core.TyperGroup)
    inner = groups.get_command(typer.Context(groups), group)
    assert isinstance(inner, typer.core.TyperGroup)
    assert command in inner.commands


def test_temporal_has_connections_enough(compose: Compose) -> None:
    """Its four parts have a pool each of 20 for the history and 10 for visibility, the server's own defaults."""
    limit = re.search(r"max_connections=(\d+)", " ".join(compose.services["temporal-postgres"]["command"]))
    assert limit is not None
    assert int(limit[1]) >= 4 * (20 + 10)
