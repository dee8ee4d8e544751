"""Signed pictures: what was done to a picture, said within it in the form of C2PA, and read out of it again.

The manifest says that the picture was made here, by which engine, when, which part of it is new, and over which photo,
by its digest alone. It holds no thumbnail, of the photo least of all, and nothing about a person. See C2PA's technical
specification 2.2, https://spec.c2pa.org.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from imaging.errors import ImageError, ImageErrorCode
from imaging.opening import format_of

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

log = structlog.get_logger(__name__)

SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
TRAINED, COMPOSITE = "compositeWithTrainedAlgorithmicMedia", "compositeCapture"
"""What IPTC calls a photo with a part that a trained model drew, and one put together from captured pictures."""

ALTERED = "algorithmicallyEnhanced"
"""What IPTC calls one that a program altered, though not what it mainly shows: the picture of a test key's job."""

PHOTO = "tryon.photo"
"""Our own assertion: the digest of the customer's photo."""

NOT_TAKEN = {"remote_manifest_fetch": False, "ocsp_fetch": False, "verify_after_sign": False}
"""What reading and signing would ask the network for, or do twice."""

YEARS = 10  # that a certificate of one's own making is good for

SELF_MADE = "self-signed on this machine"
"""In the name of such a certificate, for whoever reads it."""

STAMP_SECONDS = 3.0
"""How long a time-stamp authority may take. c2pa itself waits for 30 s, which is all that the step of a job has."""

SLOWER = 4.0
"""How much longer our own part of it may take than a moment before: others work in the meantime."""

UNASKED_SECONDS = 60.0
"""How long an authority that failed is left alone: pictures must not wait for it one after the other."""


class SigningError(ValueError):
    """Pictures cannot be signed with what the settings name; the message is a sentence for the operator."""


@dataclass(frozen=True)
class Origin:
    """How a picture was made.

    Attributes:
        engine: Its name.
        revision: Of the engine.
        source: IPTC's name for how: `TRAINED`, `COMPOSITE` or `ALTERED`.
        photo_sha256: Of the photo that was sent.
        region: ``(left, top, width, height)`` in pixels of what is new; None where it is not known.
        logo: Whether the account's logo was put on.
        at: When (UTC).
    """

    engine: str
    revision: str
    source: str
    photo_sha256: str
    region: tuple[int, int, int, int] | None = None
    logo: bool = False
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True)
class OwnCertificates:
    """What tells this service's signatures from those of others.

    Attributes:
        anchors: PEM of the roots, and of what leads to them.
        serials: Numbers of the certificates themselves: whoever else has one from the same root is not this service.
    """

    anchors: str = ""
    serials: Sequence[str] = ()

    @classmethod
    def of(cls, chains: Iterable[Certificate]) -> OwnCertificates:
        """All of them, ours and those that lead to roots, in any order."""
        from cryptography import x509

        anchors, serials = "", []
        for each in chains:
            try:
                authority = each.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
            except x509.ExtensionNotFound:
                authority = False
            if authority:
                anchors += _pem(each)
            else:
                serials.append(str(each.serial_number))
        return cls(anchors, serials)


@dataclass(frozen=True)
class Told:
    """What a picture says of itself.

    Attributes:
        found: Whether it carries a manifest; without one nothing else is known.
        intact: Whether nothing was changed since it was signed.
        ours: Whether the certificate is one of those that were asked about.
        signer: Name and organisation in the certificate.
        generator: Program and version that made the manifest.
        engine: Name and revision.
        source: The last word of IPTC's digital source type.
        at: When, in ISO 8601, by the signer's clock.
        photo_sha256: Of the photo.
        actions: What was done, by C2PA's names, the newest picture first.
        faults: Codes of what is wrong with it.
    """

    found: bool
    intact: bool = False
    ours: bool = False
    signer: str = ""
    generator: str = ""
    engine: str = ""
    source: str = ""
    at: str = ""
    photo_sha256: str = ""
    actions: Sequence[str] = ()
    faults: Sequence[str] = ()


class PictureSigner:
    """Signs with one certificate; any number of threads at a time."""

    def __init__(  # each a setting
        self,
        certificates: bytes,
        key: bytes,
        *,
        name: str,
        version: str,
        timestamp_url: str = "",
        earlier: bytes | None = None,
        stamp_seconds: float = STAMP_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Check that certificate and key belong together and can be used now; no picture is needed for it.

        Args:
            certificates: PEM: the signer's own first, then those that lead to its root.
            key: PEM of the private key, unencrypted.
            name: Of the service, for the manifest.
            version: Of the service.
            timestamp_url: Of an authority (RFC 3161) that is asked for the time at every signature; nobody without.
            earlier: PEM of certificates that were used before, with those that lead to their roots.
            stamp_seconds: How long the authority may take.
            clock: Seconds since any moment.

        Raises:
            SigningError: They cannot be read, do not fit, or are not valid today.
        """
        chain = _read_chain(certificates)
        self._algorithm = _algorithm_of(key, chain[0])
        now = datetime.now(UTC)
        for each in chain:
            if not each.not_valid_before_utc <= now <= each.not_valid_after_utc:
                raise SigningError(f"The certificate {each.subject.rfc4514_string()} is not valid today.")
        self.expires_at = min(each.not_valid_after_utc for each in chain)
        self.own = OwnCertificates.of([*chain, *(_read_chain(earlier) if earlier else ())])
        """These and those before."""
        self._certificates, self._key, self._timestamp_url = certificates, key, timestamp_url
        self._generator = {"name": name, "version": version}
        self._stamp_seconds, self._clock = stamp_seconds, clock
        self._unasked_until = clock()

    def sign(self, jpeg: bytes, origin: Origin) -> bytes:
        """The same picture with its manifest, 4 KB longer; a JPEG.

        Without a time stamp where the authority for it fails: a signature counts without one, too.

        Raises:
            SigningError: The certificate has expired, say.
        """
        source_type = SOURCE_TYPES + origin.source
        said: dict[str, Any] = {
            "softwareAgent": {"name": origin.engine, "version": origin.revision},
            "when": _moment(origin.at),
        }
        actions: list[dict[str, Any]] = [{"action": "c2pa.created", "digitalSourceType": source_type, **said}]
        if origin.region is not None:
            left, top, width, height = origin.region
            shape: dict[str, Any] = {"type": "rectangle", "unit": "pixel", "origin": {"x": left, "y": top}}
            region = [{"type": "spatial", "shape": {**shape, "width": width, "height": height}}]
            changes = [{"region": region, "description": "The garment and what it uncovers were drawn here."}]
            actions.append({"action": "c2pa.edited", "changes": changes, "digitalSourceType": source_type, **said})
        if origin.logo:
            logo = {"action": "c2pa.edited", "description": "The account's logo was put on.", "when": said["when"]}
            actions.append(logo)
        photo = {"label": PHOTO, "data": {"alg": "sha256", "hash": origin.photo_sha256}}
        return self._signed(jpeg, "image/jpeg", actions, [photo])

    def sign_copy(self, picture: bytes, media_type: str, original: bytes, *, resized: bool) -> bytes:
        """A picture in another format or size; it refers to the JPEG that it was made of.

        Raises:
            SigningError: As `sign`.
        """
        actions: list[dict[str, Any]] = [{"action": "c2pa.opened", "parameters": {"ingredientIds": ["original"]}}]
        actions += [{"action": "c2pa.converted"}] if media_type != "image/jpeg" else []
        actions += [{"action": "c2pa.resized"}] if resized else []
        when = {"when": _moment(datetime.now(UTC))}
        return self._signed(picture, media_type, [{**each, **when} for each in actions], [], original)

    def _signed(
        self,
        picture: bytes,
        media_type: str,
        actions: Sequence[dict[str, Any]],
        assertions: Sequence[dict[str, Any]],
        original: bytes | None = None,
    ) -> bytes:
        import c2pa  # here: only who signs pays for its 16 MB

        manifest = {
            "claim_generator_info": [self._generator],
            "title": "Try-on",
            "format": media_type,
            "assertions": [{"label": "c2pa.actions.v2", "data": {"actions": actions}}, *assertions],
        }

        def write(signer: Any) -> bytes:
            sink = io.BytesIO()
            builder = c2pa.Builder.from_json(json.dumps(manifest), _context())
            if original is not None:
                ingredient = {"title": "Try-on", "relationship": "parentOf", "instance_id": "original"}
                builder.add_ingredient(json.dumps(ingredient), "image/jpeg", io.BytesIO(original))
            builder.sign(signer, media_type, io.BytesIO(picture), sink)
            return sink.getvalue()

        # Without a stamp first: what fails here is not the authority's fault, nor is how long it takes.
        began = self._clock()
        try:
            unstamped = write(self._plain)
        except c2pa.C2paError as error:
            raise SigningError(str(error)[:200]) from error
        if not self._timestamp_url or self._clock() < self._unasked_until:
            return unstamped
        longest = self._stamp_seconds + SLOWER * (self._clock() - began)
        try:
            return _within(longest, partial(write, self._stamping))
        except (c2pa.C2paError, TimeoutError, RuntimeError) as error:  # the last: there is no thread to be had
            self._unasked_until = self._clock() + UNASKED_SECONDS
            log.warning("pictures without time stamps for a minute", reason=str(error)[:200] or "no answer")
            return unstamped

    @cached_property  # c2pa's signers work in any number of threads at a time
    def _plain(self) -> Any:
        return self._signer(None)

    @cached_property
    def _stamping(self) -> Any:
        return self._signer(self._timestamp_url.encode())

    def _signer(self, ta_url: bytes | None) -> Any:
        import c2pa

        about: dict[str, Any] = {"sign_cert": self._certificates, "private_key": self._key}
        return c2pa.Signer.from_info(c2pa.C2paSignerInfo(alg=self._algorithm.encode(), ta_url=ta_url, **about))


def open_signer(
    certificates: Path | None, key: Path | None, *, name: str, timestamp_url: str, earlier: Path | None = None
) -> PictureSigner | None:
    """The signer of these files; none where none is named.

    Raises:
        SigningError: See `PictureSigner`; or one of the two files is missing.
    """
    if certificates is None and key is None:
        return None
    if certificates is None or key is None:
        raise SigningError("Set both TRYON_SIGNING_CERTIFICATES and TRYON_SIGNING_KEY, or neither.")
    try:
        texts = certificates.read_bytes(), key.read_bytes()
        before = earlier.read_bytes() if earlier else None
    except OSError as error:
        raise SigningError(f"{error.filename} cannot be read: {error.strerror}.") from None
    version = metadata.version("tryon-service")
    return PictureSigner(*texts, name=name, version=version, timestamp_url=timestamp_url, earlier=before)


def read_manifest(picture: bytes, own: OwnCertificates | None = None) -> Told:
    """What a picture says of itself; the network is not asked.

    Args:
        picture: Any file, of whomever.
        own: What they signed is ``ours``.

    Raises:
        ImageError: ``image_not_readable``: it does not begin like a JPEG, PNG or WebP.
    """
    kind = format_of(picture)
    if kind is None:
        raise ImageError(ImageErrorCode.NOT_READABLE, "neither a JPEG, a PNG nor a WebP")
    import c2pa

    own = own or OwnCertificates()
    try:
        reader = c2pa.Reader(f"image/{kind.lower()}", io.BytesIO(picture), context=_context(own.anchors))
    except c2pa.C2paError as error:
        if "ManifestNotFound" in str(error):
            return Told(found=False)
        return Told(found=True, faults=[str(error).partition(":")[0][:100]])
    store = json.loads(reader.json())
    active = store["manifests"][store["active_manifest"]]
    chain, seen = [active], {store["active_manifest"]}
    while parent := next((each for each in chain[-1].get("ingredients", ()) if each.get("active_manifest")), None):
        if parent["active_manifest"] in seen:
            break
        seen.add(parent["active_manifest"])
        chain.append(store["manifests"][parent["active_manifest"]])
    signed, first = active.get("signature_info", {}), _actions_of(chain[-1])
    made = first[0] if first else {}
    agent = made.get("softwareAgent") or {}
    agent = agent if isinstance(agent, dict) else {"name": str(agent)}
    generator = (active.get("claim_generator_info") or [{}])[0]
    photo: dict[str, Any] = next(
        (each["data"] for each in chain[-1].get("assertions", ()) if each["label"] == PHOTO), {}
    )
    failures = store.get("validation_results", {}).get("activeManifest", {}).get("failure", ())
    faults = [each["code"] for each in failures if each["code"] != "signingCredential.untrusted"]
    return Told(
        found=True,
        intact=not faults,
        ours=reader.get_validation_state() == "Trusted" and signed.get("cert_serial_number") in own.serials,
        signer=", ".join(filter(None, (signed.get("common_name"), signed.get("issuer")))),
        generator=" ".join(filter(None, (generator.get("name"), generator.get("version")))),
        engine=" ".join(filter(None, (agent.get("name"), agent.get("version")))),
        source=str(made.get("digitalSourceType", "")).rpartition("/")[2],
        at=str(made.get("when", "")),
        photo_sha256=str(photo.get("hash", "")),
        actions=[str(each.get("action", "")) for manifest in chain for each in _actions_of(manifest)],
        faults=faults,
    )


SOURCES = {
    TRAINED: "A trained model drew a part of it; the rest is a photo.",
    COMPOSITE: "It was put together from a photo and a picture of the garment; no trained model drew it.",
    "trainedAlgorithmicMedia": "A trained model drew all of it.",
    "digitalCapture": "It is a photo as the camera took it.",
}

COPIES = {"c2pa.converted": "format", "c2pa.resized": "size"}


def sentences_of(told: Told, service: str) -> list[str]:
    """What a picture says of itself, for people; ``service`` is the name of this one."""
    if not told.found:
        return [
            "It carries no signed history.",
            "That proves nothing: editors, chats and screenshots take it away, and most pictures never had one.",
        ]
    if not told.generator and told.faults:
        return [f"It carries a history that cannot be read ({told.faults[0]})."]
    if told.intact:
        said = [f"It was not changed since it was signed, by {told.signer}."]
    else:
        said = [
            f"It was CHANGED after it was signed by {told.signer}, or its history is damaged: believe none of this."
        ]
    said.append(
        f"The certificate is that of this service, {service}."
        if told.ours
        else "The certificate is not that of this service. Anybody can make one: find out who vouches for it."
    )
    at = f" on {told.at}, by the signer's clock" if told.at else ""
    said.append(f"It was made with {told.engine or 'a program that is not named'}{at} ({told.generator}).")
    said += [SOURCES[told.source]] if told.source in SOURCES else []
    if told.source == ALTERED and told.photo_sha256:  # nobody else names a photo
        said.append("It is a test: TEST was written across a photo, and no garment was looked at.")
    changed = [what for action, what in COPIES.items() if action in told.actions]
    if changed:
        said.append(f"It is a copy in another {' and '.join(changed)}.")
    if told.photo_sha256:
        said.append(f"The photo under it has the SHA-256 {told.photo_sha256}; the photo itself is not in here.")
    return said


def make_certificate(name: str) -> tuple[str, str]:
    """A certificate and key of one's own making, as PEM, in whose name readers see that nobody vouches for it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    begins = datetime.now(UTC) - timedelta(days=1)  # clocks are set back now and then

    def named(common_name: str) -> x509.Name:
        organisation = x509.NameAttribute(NameOID.ORGANIZATION_NAME, name[:64])
        return x509.Name([organisation, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])

    def begun(common_name: str, issuer: str, public: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        made = x509.CertificateBuilder(named(issuer), named(common_name), public, x509.random_serial_number())
        made = made.not_valid_before(begins).not_valid_after(begins + timedelta(days=365 * YEARS))
        return made.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)

    no_use = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
    no_use |= {"encipher_only": False, "decipher_only": False}
    root = (
        begun(f"root, {SELF_MADE}", f"root, {SELF_MADE}", root_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(False, key_cert_sign=True, crl_sign=True, **no_use), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    own = (
        begun(SELF_MADE, f"root, {SELF_MADE}", key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(True, key_cert_sign=False, crl_sign=False, **no_use), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), critical=False)
        .sign(root_key, hashes.SHA256())
    )
    return _pem(own) + _pem(root), key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _within(seconds: float, work: Callable[[], bytes]) -> bytes:
    """What the work gives.

    Raises:
        TimeoutError: It takes longer. It goes on, and nobody sees how it ends.
    """
    done: Future[bytes] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  # raised by `result`
            done.set_exception(error)

    # A process that ends does not wait for it.
    threading.Thread(target=run, name="time stamp", daemon=True).start()
    return done.result(seconds)


def _context(anchors: str = "") -> Any:
    import c2pa

    settings: dict[str, Any] = {"builder": {"thumbnail": {"enabled": False}}, "verify": NOT_TAKEN}
    if anchors:
        settings["trust"] = {"user_anchors": anchors}
    return c2pa.Context.from_dict(settings)


def _actions_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    for each in manifest.get("assertions", ()):
        if each["label"].startswith("c2pa.actions"):
            found: list[dict[str, Any]] = each["data"].get("actions", [])
            return found
    return []


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _pem(certificate: Certificate) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode()


def _read_chain(certificates: bytes) -> list[Certificate]:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(certificates)
    except ValueError:
        raise SigningError("The file of certificates holds none in PEM.") from None


def _algorithm_of(key: bytes, certificate: Certificate) -> str:
    """C2PA's name of the algorithm that goes with this key, if it is the certificate's."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        raise SigningError("The file of the private key holds none in PEM, or an encrypted one.") from None
    if private.public_key() != certificate.public_key():
        raise SigningError("The private key is not that of the first certificate.")
    if isinstance(private, ec.EllipticCurvePrivateKey) and private.key_size in (256, 384, 521):
        return {256: "es256", 384: "es384", 521: "es512"}[private.key_size]
    if isinstance(private, ed25519.Ed25519PrivateKey):
        return "ed25519"
    if isinstance(private, rsa.RSAPrivateKey):
        return "ps256"
    raise SigningError("C2PA has no algorithm for this kind of key; use an elliptic curve, Ed25519 or RSA.")
