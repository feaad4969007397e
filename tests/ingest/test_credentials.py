"""Credentials stay out of every index: by name, by text, behind links and includes, whatever a pattern says."""

from __future__ import annotations

import string
import time
from pathlib import Path

import pytest

from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.corpora.credentials import holds_credential, is_credential_file
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.sources.codebase import open_codebase
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_docs, write_files

pytestmark = pytest.mark.slow

# Put together here: a token as a whole would be taken for one by whatever looks at this file.
_MIXED = "q7Rm2XvB9tLc4KpW8sZd6NyF3hJg5TaQ1eUo0iVxMbCwErYk" * 3


def token(start: str, length: int) -> str:
    return start + _MIXED[:length]


def private_key(kind: str = "RSA ") -> str:
    body = "\n".join(_MIXED[at : at + 64] for at in (0, 32, 64))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\n"


TOKENS = {
    "aws": "AKIA" + "Q7RM2XVB9TLC4KPW",
    "aws secret, as shells have it": token("AWS_SECRET_ACCESS_KEY=", 40),
    "github": token("ghp_", 36),
    "github fine-grained": token("github_pat_", 82),
    "gitlab": token("glpat-", 20),
    "slack": "xoxb-" + "123987456012-" + _MIXED[:24].lower(),
    "stripe": token("sk_live_", 24),
    "openai": "sk-" + _MIXED[:20] + "T3BlbkFJ" + _MIXED[20:40],
    "openai project": token("sk-proj-", 100),
    "anthropic": token("sk-ant-api03-", 95),
    "google": token("AIza", 35),
    "google oauth": token("GOCSPX-", 28),
    "npm": token("npm_", 36),
    "npm registry": "//registry.example.org/:_authToken=" + token("npm_", 36),
    "pypi": token("pypi-AgEIcHlwaS5vcmc", 80),
    "hugging face": "hf_" + "".join(char for char in _MIXED if char in string.ascii_letters)[:34],
    "azure": token("AccountKey=", 86) + "==",
    "sendgrid": "SG." + _MIXED[:22] + "." + _MIXED[22:65],
    "square": token("sq0csp-", 43),
}
FILES = (
    *(".aws/credentials", ".netrc", "_netrc", ".git-credentials", ".kube/config", ".ssh/id_dsa", ".ssh/config"),
    *(".docker/config.json", ".npmrc", ".pypirc", ".env", ".env.production", "prod.env", ".ENV", "server.PEM"),
    *(
        "id_rsa",
        "tls.key",
        ".htpasswd",
        "my-service-account.json",
        "client_secret_1.json",
        "deploy/credentials.json",
        "prod.tfvars",
    ),
    *(".config/gcloud/credentials.db", ".gnupg/trustdb", "infra/terraform.tfstate", ".git/config", ".bash_history"),
    *(".env~", "server.pem.bak", "id_rsa-old"),
)


class TestNames:
    @pytest.mark.parametrize("name", FILES)
    def test_a_file_that_programs_keep_credentials_in_is_one(self, name: str) -> None:
        assert is_credential_file(f"/home/me/app/{name}")

    @pytest.mark.parametrize(
        "name",
        [
            ".env.example",
            ".env.sample",
            "example.env",
            "src/env.py",
            "config.json",
            "keys.py",
            "docs/secrets.md",
            "key",
        ],
    )
    def test_other_files_are_none(self, name: str) -> None:
        assert not is_credential_file(f"/home/me/app/{name}")


class TestTexts:
    @pytest.mark.parametrize("name", TOKENS)
    def test_a_token_of_a_known_service_is_found(self, name: str) -> None:
        assert holds_credential(f'KEY = "{TOKENS[name]}"\n')
        assert holds_credential("x = 1\n" * 20_000 + f"# {TOKENS[name]}\n")

    @pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
    def test_a_private_key_is_found(self, kind: str) -> None:
        assert holds_credential(private_key(kind))
        assert holds_credential('{"private_key": "' + private_key(kind).replace("\n", "\\n") + '"}')

    def test_a_remark_that_allows_a_secret_changes_nothing(self) -> None:
        assert holds_credential(f"KEY = '{TOKENS['github']}'  # pragma: allowlist secret\n")

    @pytest.mark.parametrize(
        "text",
        [
            "AKIAIOSFODNN7EXAMPLE",
            "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "AWS_SECRET_ACCESS_KEY=$(vault read -field=secret aws/creds/deploy)",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-proj-your-key-goes-here-your-key-goes-here-your-key",
            "AIza" + "0" * 35,
            'if "-----BEGIN PRIVATE KEY-----" in text:\n    return True\n',
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
            "password = 'hunter2'\nurl = 'https://user:password@example.org'\n",
            'checksum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"\n',
            f"data:image/png;base64,{_MIXED}AKIAQ7RM2XVB9TLC4KPW{_MIXED}\n",
        ],
    )
    def test_what_stands_for_one_in_documents_is_none(self, text: str) -> None:
        assert not holds_credential(text)

    @pytest.mark.parametrize(
        "text",
        [
            "sk-T3BlbkFJ",
            "aws_secret_access_key =       ",
            "//:_authToken=",
            "sk-",
            "AKIA",
            "-----BEGIN PRIVATE KEY-----",
        ],
    )
    def test_hostile_texts_take_time_that_grows_with_their_length_alone(self, text: str) -> None:
        def seconds(repeats: int) -> float:
            begin = time.thread_time()
            holds_credential(text * repeats)
            return time.thread_time() - begin

        seconds(10)
        # Four times the text; quadratic work would take sixteen times as long.
        assert min(seconds(12_000), seconds(12_000)) < 12 * max(seconds(3_000), 0.01)


class TestIndexes:
    def test_no_pattern_takes_credentials_back_and_the_report_names_them(self, tmp_path: Path) -> None:
        place = Workplace(tmp_path / "place")
        app = write_files(
            tmp_path / "app",
            {
                **dict.fromkeys(FILES, "secret of mine\n"),
                "a.py": "answer = 42\n",
                "leak.py": f"KEY = '{TOKENS['github']}'\n",
                "page.md": '# Page\n\n--8<-- ".env"\n\n--8<-- "leak.py"\n',
            },
        )
        patterns = tuple(f"!{name}" for name in (".env", ".git/", ".ssh/", "*", *FILES))
        codebase = Codebase(name="app", path=app, file_patterns=("*",), exclude_patterns=patterns)
        indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
        report = indexer.build(codebase, Progress())
        found = codebase_corpora(settings_for(place.settings, codebase), open_codebase(app), "now")
        files = {file.path: file.text for corpus in found.corpora for file in corpus.files}
        assert set(files) == {"a.py", "page.md"} and report.files == 2
        skipped = dict(report.skipped)
        assert skipped["leak.py"] == "credential_text" and skipped[".env"] == "credential_file"
        assert skipped[".ssh/"] == "credential_file"
        said = " ".join(report.warnings)
        assert "leak.py" in said and ".env" in said and TOKENS["github"] not in said

    def test_the_folder_of_a_users_keys_gives_nothing(self, tmp_path: Path) -> None:
        place = Workplace(tmp_path / "place")
        keys = write_files(tmp_path / ".aws", {"credentials": "secret\n", "config": "secret\n"})
        settings = settings_for(place.settings, Codebase(name="keys", path=keys))
        found = codebase_corpora(settings, open_codebase(keys), "now")
        assert not any(corpus.files for corpus in found.corpora)

    def test_the_docs_and_what_they_include_are_looked_at_too(self, tmp_path: Path) -> None:
        place = Workplace(tmp_path)
        pages = {
            "docs/leak.md": f"# Leak\n\nUse `{TOKENS['google']}`.\n",
            "docs/include.md": '# Include\n\n--8<-- ".env"\n\n--8<-- "snippets/leak.txt"\n\nText.\n',
            ".env": "PASSWORD=zebra\n",
            "snippets/leak.txt": f"giraffe {TOKENS['stripe']}\n",
        }
        write_docs(place.docs, pages)
        run = place.ingest("docs")
        texts = " ".join(chunk.text for chunk in place.points().values())
        assert "Include" in texts and not any(word in texts for word in ("Leak", "zebra", "giraffe"))
        assert "docs/leak.md" in " ".join(run.notices) and TOKENS["google"] not in run.model_dump_json()
