"""Commands, options and settings that were removed, each with the sentence that says what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

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
    "adk-evidence eval judge": "Write a sheet for people with `adk-evidence eval sheet`.",
    "adk-evidence eval report": "Run `python -m tests.quality.misses` in a checkout of the code.",
    "adk-evidence eval selfsupervised": "Write questions by hand; `config/golden/README.md` says in which form.",
    "adk-evidence eval sweep": "Run `python -m tests.quality.sweep` in a checkout of the code.",
    "adk-evidence eval train-questions": "Run `python -m tests.quality.train_questions` in a checkout of the code.",
    "adk-evidence eval train-reader": "Leave it out: no model reads the candidates any more.",
    "enrichment": "Leave it out: `python -m tests.quality.write_questions` takes options instead.",
    "rerank.reader": "Leave it out: no model reads the candidates any more.",
    "retrieval.samples": "Example programs are always searched; filter by path to leave them out.",
    "store.prefer_grpc": "Set store.grpc_port to a port, e.g. 6334, to speak gRPC.",
    "rerank.batch_size": "The reranker chooses how many candidates go into a request; remove the setting.",
    "ingestion.corpora.adk_docs.sample_globs": (
        "Example programs are found in the folder where the ADK keeps them; remove the setting."
    ),
    "ingestion.corpora.adk_python.sample_globs": (
        "Example programs are found in the folder where the ADK keeps them; remove the setting."
    ),
    "ingestion.batching.voyage_context_overlap_chunks": "Context batches always share 4 chunks; remove the setting.",
    "ingestion.qdrant_upload.timeout_seconds": "A write may always take 60 seconds; remove the setting.",
    "embedding.dense.static_above": (
        "An index that lacks 200,000 vectors gets static ones; set embedding.dense.precision to choose another kind."
    ),
    "embedding.sparse.stopwords": "BM25 always leaves out the words of our list; remove the setting.",
    "embedding.sparse.k": "BM25 always has its usual constants; remove the setting.",
    "embedding.sparse.b": "BM25 always has its usual constants; remove the setting.",
    "embedding.sparse.avg_len_docs": "BM25 always has the mean lengths of the ADK; remove the setting.",
    "embedding.sparse.avg_len_code": "BM25 always has the mean lengths of the ADK; remove the setting.",
    "embedding.sparse.splade.threads": "Set embedding.dense.threads, which holds for every local model.",
    "embedding.sparse.splade.long_text": "SPLADE always reads long texts in windows; remove the setting.",
    "embedding.sparse.splade.window_overlap": "Windows of long texts always share 32 tokens; remove the setting.",
    "embedding.voyage.breaker_failures": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "embedding.voyage.breaker_seconds": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "embedding.openai.breaker_failures": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "embedding.openai.breaker_seconds": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "rerank.llm.breaker_failures": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "rerank.llm.breaker_seconds": (
        "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting."
    ),
    "store.breaker_failures": "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting.",
    "store.breaker_seconds": "A service that fails 3 times in a row is not asked for 30 seconds; remove the setting.",
    "embedding.voyage.query_timeout_seconds": (
        "The embedding of a question may always take 10 seconds; remove the setting."
    ),
    "embedding.voyage.query_max_attempts": "The embedding of a question is always tried 3 times; remove the setting.",
    "embedding.voyage.query_cache_entries": "The vectors of 1024 questions are always kept; remove the setting.",
    "embedding.openai.query_timeout_seconds": (
        "The embedding of a question may always take 10 seconds; remove the setting."
    ),
    "embedding.openai.query_max_attempts": "The embedding of a question is always tried 3 times; remove the setting.",
    "embedding.openai.query_cache_entries": "The vectors of 1024 questions are always kept; remove the setting.",
    "embedding.voyage.timeout_seconds": "A request of an ingestion may always take 60 seconds; remove the setting.",
    "embedding.openai.max_attempts": "A request of an ingestion is always tried 7 times; remove the setting.",
    "embedding.gemini.batch_size": "A request always has 100 texts; remove the setting.",
    "embedding.gemini.timeout_seconds": "A request may always take 60 seconds; remove the setting.",
    "embedding.gemini.max_attempts": "A request is always tried 5 times; remove the setting.",
    "store.keep_generations": "The current generation and the one before are kept; remove the setting.",
    "store.on_disk_payload": "A server always keeps payloads on disk; remove the setting.",
    "retrieval.asked_prefetch_limit": "The branch of written questions always has 40 candidates; remove the setting.",
    "retrieval.adapted_below": "The value belongs to the adapter that ships; remove the setting.",
    "retrieval.weak_pool_size": "Set retrieval.expansion to always or never to decide when sub-queries are asked.",
    "retrieval.weak_similarity": "Set retrieval.expansion to always or never to decide when sub-queries are asked.",
    "retrieval.relevant_similarity": (
        "The threshold belongs to the dense model and is known for MiniLM alone; remove the setting."
    ),
    "retrieval.support": "The weights belong to the dense model and are known for MiniLM alone; remove the section.",
    "retrieval.feedback_weight": "Set retrieval.feedback_passages to 0 to switch feedback off; its weight is fixed.",
    "retrieval.feedback_terms": "Set retrieval.feedback_passages to 0 to switch feedback off; its terms are fixed.",
    "retrieval.read_errors": "A pasted error is always read as one; remove the setting.",
    "rerank.threads": "Set embedding.dense.threads, which holds for every local model.",
    "rerank.body_tokens": "A reranker always sees 1200 tokens of a text; remove the setting.",
    "rerank.timeout_seconds": "Voyage may always take 20 seconds to rerank; remove the setting.",
    "rerank.cache_entries": "256 rankings are always kept; remove the setting.",
    "rerank.llm.max_attempts": "The language model is always tried twice; remove the setting.",
    "rerank.llm.chars_per_document": "The language model always sees 500 characters of a text; remove the setting.",
    "pack.neighbours": "Three places always go to other parts of pages and classes; remove the setting.",
    "pack.neighbour_buffer": "Three places always go to other parts of pages and classes; remove the setting.",
    "pack.passages": "Ask with --full to see the whole texts of results.",
    "pack.repeats": "A result never shows lines again that an earlier one shows; remove the setting.",
    "pack.weak_ends": "Ask with --full to see every result.",
    "pack.outlines": "A pack always lists what else its pages and classes hold; remove the setting.",
    "load.waiting": "1000 requests may always wait; remove the setting.",
    "load.cache_max_bytes": (
        "Kept answers always take 100 MB at the most; set load.cache_ttl_seconds to 0 to keep none."
    ),
    "telemetry.max_bytes": "The event log is always rotated at 10 MB; set telemetry.event_log to false to write none.",
    "adk-evidence explain": "Ask again with `adk-evidence ask --json` and compare the two packs; `adk-evidence check` "
    "compares the citations of a saved pack with the sources.",
    "embedding.cache_max_bytes": "Leave it out: an ingestion keeps 2 GB of vectors, and more where indexes need more.",
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
