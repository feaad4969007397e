"""Files and texts that hold credentials. They are never indexed, and no pattern of a request changes that.

A list names the files. Patterns find credentials in texts: those of detect-secrets that hardly ever match anything
else, and a few for services that detect-secrets does not know. Comments such as `pragma: allowlist secret` count for
nothing: whoever writes files could write them.
"""

from __future__ import annotations

import fnmatch
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePath

from adk_ingest.wording import named

# Folders in which programs keep keys and sessions. All that lies below one is left out.
_FOLDERS = frozenset((".aws", ".azure", ".gcloud", ".gnupg", ".kube", ".password-store", ".ssh", ".git", ".hg"))
# Files that hold credentials only below a folder of this name.
_PLACES = """
    .docker/config.json gcloud/credentials.db gcloud/access_tokens.db gh/hosts.yml .cargo/credentials
    .cargo/credentials.toml .gem/credentials .streamlit/secrets.toml .m2/settings.xml .m2/settings-security.xml
"""
_NAMES = """
    .env .env.* *.env .envrc
    .netrc _netrc .git-credentials .npmrc .yarnrc .yarnrc.yml .pypirc .dockercfg .dockerconfigjson
    .htpasswd htpasswd .pgpass pgpass.conf .my.cnf .mylogin.cnf .s3cfg .boto .passwd-s3fs
    .terraformrc terraform.rc credentials.tfrc.json *.tfstate *.tfstate.backup .vault-token
    *.pem *.key *.ppk *.p8 *.p12 *.pfx *.pkcs12 *.jks *.jceks *.keystore *.kdb*
    id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk id_xmss *_rsa *_ed25519
    *service-account*.json *service_account*.json *serviceaccount*.json application_default_credentials*
    credentials credentials.json credentials.ini credentials.y*ml client_secret*.json
    oauth_token*.json token.json auth.json *.tfvars *.tfvars.json
    secret.json secret.y*ml secrets.json secrets.toml secrets.y*ml secrets.ini .secrets
    kubeconfig *.kubeconfig
    *.ovpn *.agekey *.asc.key .*_history
"""
# What editors and people put behind the name of a file that they keep a copy of.
_COPY = re.compile(r"(?:~|[.-](?:bak|backup|old|orig|save|copy))+\Z")
# What shows which variables there are, without their values.
_SAMPLES = re.compile(r".*\.(?:example|sample|template|tmpl|dist|defaults)(?:\.env)?|(?:example|sample|template)\.env")
_NAME = re.compile("|".join(fnmatch.translate(glob) for glob in _NAMES.split()))

# Detectors of detect-secrets by module and class, and patterns. Every text that a detector or a pattern finds holds one
# of its marks. The detectors left out also find ordinary texts: words beside `password`, random letters, addresses with
# a user.
_DETECTORS: tuple[tuple[str | re.Pattern[str], tuple[str, ...]], ...] = (
    ("aws.AWSKeyDetector", ("AKIA", "ASIA", "ABIA", "ACCA", "aws_secret", "AWS_SECRET", "awsSecret")),
    ("azure_storage_key.AzureStorageKeyDetector", ("AccountKey=",)),
    ("github_token.GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("gitlab_token.GitLabTokenDetector", ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glptt-", "gloas-")),
    ("gitlab_token.GitLabTokenDetector", ("GR1348941", "glcbt-", "glimt-", "glagent-")),
    ("npm.NpmDetector", (":_authToken=",)),
    ("openai.OpenAIDetector", ("T3BlbkFJ",)),
    ("private_key.PrivateKeyDetector", (" PRIVATE KEY", "PuTTY-User-Key-File-", "BEGIN SSH2 ENCRYPTED")),
    ("pypi_token.PypiTokenDetector", ("pypi-AgE",)),
    ("sendgrid.SendGridDetector", ("SG.",)),
    ("slack.SlackDetector", ("xox", "hooks.slack.com/services/")),
    ("square_oauth.SquareOAuthDetector", ("sq0csp-",)),
    ("stripe.StripeDetector", ("k_live_",)),
    # What detect-secrets does not find. The first needs no quotes: shells, Dockerfiles and files of settings have none.
    (
        re.compile(
            r"(?i:aws_secret_access_key)[\"']?[ \t]{0,8}[=: ][ \t]{0,8}[\"']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
        ),
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ),
    (re.compile(r"\bAIza[\w-]{35}(?![\w-])"), ("AIza",)),
    (re.compile(r"\bGOCSPX-[\w-]{28}(?![\w-])"), ("GOCSPX-",)),
    (re.compile(r"\bya29\.[\w-]{40,}"), ("ya29.",)),
    (re.compile(r"\bgithub_pat_\w{82}\b"), ("github_pat_",)),
    (re.compile(r"\bsk-ant-[\w-]{80,}"), ("sk-ant-",)),
    (re.compile(r"\bsk-(?:proj|svcacct|admin)-[\w-]{40,}"), ("sk-proj-", "sk-svcacct-", "sk-admin-")),
    (re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"), ("npm_",)),
    (re.compile(r"\bhf_[A-Za-z]{34}\b"), ("hf_",)),
    (re.compile(r"BEGIN ENCRYPTED PRIVATE KEY|PuTTY-User-Key-File-3"), (" PRIVATE KEY", "PuTTY-User-Key-File-")),
)
_KEY_HEADER = re.compile(r"PRIVATE KEY|SSH2 ENCRYPTED|PuTTY")
# A header alone is what a program looks for; a key has its body below.
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
_INSIDE_A_WORD = re.compile(r"(?<!\\)[A-Za-z0-9]\Z")
# Placeholders for tokens in documents: words, or a repeated character or pair of characters.
_MADE_UP = re.compile(
    r"example|placeholder|your|xxxx|dummy|redacted|\.\.\.|12345678|abcdefgh|(.)\1{7}|(..)\2{5}", re.IGNORECASE
)

# Why a walk leaves a file out, as its report says.
BY_NAME, BY_TEXT = "credential_file", "credential_text"

# Characters that a pattern may need before the mark and after it. Texts are searched in pieces of a bounded length,
# since some of the patterns take time that grows with the square of a line's length.
_BEFORE, _AFTER, _PIECE = 200, 600, 1000


def is_credential_folder(name: str) -> bool:
    """Whether all that lies below a folder of this name is left out."""
    return name.lower() in _FOLDERS


def is_credential_file(path: str | PurePath) -> bool:
    """Whether a file has the name or the place of a credential, in upper or lower case.

    The folders above count as well, so an absolute path is best.
    """
    text = path if isinstance(path, str) else path.as_posix()
    parts = [part for part in text.replace("\\", "/").lower().split("/") if part not in ("", ".")]
    if not parts:
        return False
    if not _FOLDERS.isdisjoint(parts):
        return True
    name = _COPY.sub("", parts[-1])
    if "/".join((*parts[-2:-1], name)) in _PLACES.split():
        return True
    return _NAME.match(name) is not None and _SAMPLES.fullmatch(name) is None


def holds_credential(text: str) -> bool:
    """Whether a text holds a private key or a token of a known service; placeholders in documents do not count."""
    found = ((piece, source) for source, marks in _DETECTORS for mark in marks for piece in _pieces(text, mark))
    return any(_found_in(piece, _patterns(source)) for piece, source in found)


def credential_notices(skipped: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences on the files that a walk left out for their credentials; `skipped` has paths by reason."""
    notices = []
    for reason, why in ((BY_NAME, "may hold credentials, by their names,"), (BY_TEXT, "hold credentials")):
        if paths := sorted(skipped.get(reason, ())):
            notices.append(f"Files that {why} were not indexed: {named(paths)}.")
    return notices


@cache
def _patterns(source: str | re.Pattern[str]) -> tuple[re.Pattern[str], ...]:
    if isinstance(source, re.Pattern):
        return (source,)
    # Imported at the first mark that is found: the package takes half a second.
    module, _, detector = source.partition(".")
    return tuple(getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), detector).denylist)


def _pieces(text: str, mark: str) -> Iterator[str]:
    """The parts of a text around a mark; together they are hardly longer than the text."""
    place = text.find(mark)
    while place >= 0:
        yield text[max(0, place - _BEFORE) : place + _PIECE + _AFTER]
        place = text.find(mark, place + _PIECE)


def _found_in(piece: str, patterns: tuple[re.Pattern[str], ...]) -> bool:
    return any(_is_real(found, piece) for pattern in patterns for found in pattern.finditer(piece))


def _is_real(found: re.Match[str], piece: str) -> bool:
    # Within a longer word, such as encoded bytes, a mark stands by chance.
    if found[0][0].isalnum() and _INSIDE_A_WORD.search(piece, max(0, found.start() - 2), found.start()):
        return False
    if _KEY_HEADER.search(found[0]):
        body = _KEY_BODY.search(piece, found.end(), found.end() + _AFTER)
        return body is not None and not _MADE_UP.search(body[0])
    return not _MADE_UP.search(found[0])
