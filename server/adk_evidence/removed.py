"""Commands, options and settings that were removed, each with the sentence that says what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

# What always holds since the settings were removed that chose it, and these settings.
_FIXED: Mapping[str, tuple[str, ...]] = {
    "The reranker chooses how many candidates go into a request": ("rerank.batch_size",),
    "Example programs are found in the folder where the ADK keeps them": (
        "ingestion.corpora.adk_docs.sample_globs",
        "ingestion.corpora.adk_python.sample_globs",
    ),
    "Context batches always share 4 chunks": ("ingestion.batching.voyage_context_overlap_chunks",),
    "A write may always take 60 seconds": ("ingestion.qdrant_upload.timeout_seconds",),
    "A service that fails 3 times in a row is not asked for 30 seconds": (
        "embedding.voyage.breaker_failures",
        "embedding.voyage.breaker_seconds",
        "embedding.openai.breaker_failures",
        "embedding.openai.breaker_seconds",
        "rerank.llm.breaker_failures",
        "rerank.llm.breaker_seconds",
        "store.breaker_failures",
        "store.breaker_seconds",
    ),
    "The embedding of a question may always take 10 seconds": (
        "embedding.voyage.query_timeout_seconds",
        "embedding.openai.query_timeout_seconds",
    ),
    "The embedding of a question is always tried 3 times": (
        "embedding.voyage.query_max_attempts",
        "embedding.openai.query_max_attempts",
    ),
    "The vectors of the last questions are always kept": (
        "embedding.voyage.query_cache_entries",
        "embedding.openai.query_cache_entries",
    ),
    "A request of an ingestion may always take 60 seconds": ("embedding.voyage.timeout_seconds",),
    "A request of an ingestion is always tried 7 times": ("embedding.openai.max_attempts",),
    "A request always has 100 texts": ("embedding.gemini.batch_size",),
    "A request may always take 60 seconds": ("embedding.gemini.timeout_seconds",),
    "A request is always tried 5 times": ("embedding.gemini.max_attempts",),
    "The current generation and the one before are kept": ("store.keep_generations",),
    "A Qdrant server is always asked over HTTP": ("store.grpc_port", "store.prefer_grpc"),
    "A server always keeps payloads on disk": ("store.on_disk_payload",),
    "The branch of written questions always has 40 candidates": ("retrieval.asked_prefetch_limit",),
    "The value belongs to the adapter that ships": ("retrieval.adapted_below",),
    "The threshold belongs to the dense model and is known for MiniLM alone": ("retrieval.relevant_similarity",),
    "A pasted error is always read as one": ("retrieval.read_errors",),
    "A reranker always sees 1200 tokens of a text": ("rerank.body_tokens",),
    "Voyage may always take 20 seconds to rerank": ("rerank.timeout_seconds",),
    "256 rankings are always kept": ("rerank.cache_entries",),
    "The language model is always tried twice": ("rerank.llm.max_attempts",),
    "The language model always sees 500 characters of a text": ("rerank.llm.chars_per_document",),
    "Three places always go to other parts of pages and classes": ("pack.neighbours", "pack.neighbour_buffer"),
    "A result never shows lines again that an earlier one shows": ("pack.repeats",),
    "A pack always lists what else its pages and classes hold": ("pack.outlines",),
    "1000 requests may always wait": ("load.waiting",),
    "The site's own configuration says where its pages are published": (
        "ingestion.corpora.adk_docs.site_url",
        "ingestion.corpora.adk_python.site_url",
    ),
    "Sections always start at headings of levels 1 and 2": ("ingestion.chunking.docs.split_level",),
    "A request that is too large is sent in smaller ones": ("embedding.openai.request_tokens",),
    "A second search always has 90 candidates": ("retrieval.expanded_limit_per_collection",),
    "As many requests run as the machine has cores, and at least 4": ("load.running",),
}

# A command is named as it was typed (`adk-ingest prune`), an option behind its command (`adk-ingest all --part`), and a
# setting by its path (`rerank.reader.adapter`, or `rerank.reader` for a whole section).
INSTEAD: Mapping[str, str] = {
    "adk-evidence analyze --similarity": "An analysis tells only of copies to the letter; leave the option out.",
    "adk-evidence analyze --symbol-tokens": "An analysis no longer lists large symbols; leave the option out.",
    **{
        f"adk-evidence ask {option}": "Put the evidence of `adk-evidence ask --prompt` into your conversation; the "
        "request adk/render of the language server takes a system prompt and earlier turns."
        for option in ("--history", "--system")
    },
    "adk-evidence serve mcp --structured": "Read the text of the answers; `adk-evidence ask --json` gives programs the "
    "whole pack.",
    **{
        f"adk-evidence serve lsp {option}": "Let the editor start the server, which speaks over its pipes; a program "
        "such as socat can join these to a socket."
        for option in ("--tcp", "--host", "--port", "--no-auth")
    },
    "adk-ingest finish": "Run `adk-ingest all`, which publishes the index; put a large one on a Qdrant cluster.",
    "adk-ingest simulate": "Run `adk-ingest plan`, which says what an ingestion takes and costs.",
    "adk-ingest prune": "Every ingestion removes vectors that no index needs, once they take more than 2 GB.",
    "adk-ingest sync": "Run `adk-ingest all`, which brings the clone of the docs up to date.",
    "adk-ingest targets": "Run `adk-ingest all`, which ranks and embeds the symbols, too.",
    "adk-ingest update": "Run `adk-ingest codebase` with the folder of the codebase.",
    "adk-ingest history": "Install a newer ADK Evidence: its table has the newer releases.",
    **{
        f"adk-ingest {command} {option}": "One process makes the whole index: run the command without this option."
        for command in ("all", "codebase")
        for option in ("--part", "--build")
    },
    "adk-ingest code --keep": "Run `adk-ingest all --adk 1.18.0`: each version has an index.",
    "adk-ingest forget": "Run `adk-ingest delete adk-1.18.0`: each version has an index.",
    "adk-evidence ask --ref": "Name the version in the question or with `--adk`.",
    "adk-ingest enrich": "Run `python -m tests.quality.write_questions` in a checkout of the code.",
    "adk-evidence eval abstention": "Run `python -m tests.quality.abstention` in a checkout of the code.",
    "adk-evidence eval exact": "Run `python -m tests.quality.sweep --set retrieval.exact=false,true` in a checkout.",
    **dict.fromkeys(
        ("adk-evidence eval judge", "adk-evidence eval sheet", "adk-evidence eval sheet-report"),
        "Let people read the packs that `adk-evidence ask` prints.",
    ),
    "adk-evidence eval report": "Run `python -m tests.quality.misses` in a checkout of the code.",
    "adk-evidence eval selfsupervised": "Write questions by hand; `config/golden/README.md` says in which form.",
    "adk-evidence eval sweep": "Run `python -m tests.quality.sweep` in a checkout of the code.",
    "adk-evidence eval train-questions": "Run `python -m tests.quality.train_questions` in a checkout of the code.",
    **dict.fromkeys(
        ("adk-evidence eval train-reader", "rerank.reader"),
        "Leave it out: no model reads the candidates any more.",
    ),
    "enrichment": "Leave it out: `python -m tests.quality.write_questions` takes options instead.",
    "retrieval.samples": "Example programs are always searched; filter by path to leave them out.",
    "embedding.dense.static_above": "Set embedding.dense.precision; auto takes static vectors if 200,000 are missing.",
    **dict.fromkeys(
        ("retrieval.weak_pool_size", "retrieval.weak_similarity"),
        "Set retrieval.expansion to always or never to decide when sub-queries are asked.",
    ),
    "retrieval.support": "The weights belong to the dense model and are known for MiniLM alone; remove the section.",
    "retrieval.feedback_weight": "Set retrieval.feedback_passages to 0 to switch feedback off; its weight is fixed.",
    "retrieval.feedback_terms": "Set retrieval.feedback_passages to 0 to switch feedback off; its terms are fixed.",
    "rerank.threads": "Set embedding.dense.threads, which holds for every local model.",
    "pack.passages": "Ask with --full to see the whole texts of results.",
    "pack.weak_ends": "Ask with --full to see every result.",
    "load.cache_max_bytes": "Kept answers take at most 100 MB; set load.cache_ttl_seconds to 0 to keep none.",
    "telemetry.max_bytes": "The event log is always rotated at 10 MB; set telemetry.event_log to false to write none.",
    "adk-evidence explain": "Run `adk-evidence check`, which compares the citations of a saved pack with the sources.",
    "embedding.cache_max_bytes": "Leave it out: an ingestion keeps 2 GB of vectors, and more where indexes need more.",
    **dict.fromkeys(
        ("ingestion.corpora.adk_docs.source", "ingestion.corpora.adk_python.source"),
        "The folder `root` says what it is; else `distribution` is downloaded, or the repository cloned.",
    ),
    **dict.fromkeys(
        (
            "embedding.dense.model_path",
            "embedding.dense.fastembed.docs_model_path",
            "embedding.dense.fastembed.code_model_path",
            "rerank.model_path",
        ),
        "Set embedding.dense.models_path to a folder that has each model in a folder with the model's name.",
    ),
    **dict.fromkeys(
        ("embedding.voyage.usd_per_million_tokens", "embedding.openai.usd_per_million_tokens"),
        "Set embedding.usd_per_million_tokens, which holds for every service.",
    ),
    **dict.fromkeys(
        ("embedding.voyage.max_cost_usd", "embedding.openai.max_cost_usd"),
        "Set embedding.max_cost_usd, which holds for every service.",
    ),
    "retrieval.adapted_questions": "Set embedding.dense.question_adapter to none to encode questions without it.",
    "embedding.sparse": "Set embedding.dense.models_path and threads, which hold for every local model.",
    **{name: f"{fact}; remove the setting." for fact, names in _FIXED.items() for name in names},
}


def instead_of(name: str) -> str | None:
    """What to do instead of a removed command, option or setting; None where nothing of this name was removed.

    A setting below a removed section is removed with the section.
    """
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None
