"""The only definition of each wire type."""

from adk_evidence.models.chunk import ChunkPayload, ChunkRecord
from adk_evidence.models.pack import Candidate, EvidencePack
from adk_evidence.models.request import EvidenceFilters, EvidenceRequest, TaskMode

__all__ = [
    "Candidate",
    "ChunkPayload",
    "ChunkRecord",
    "EvidenceFilters",
    "EvidencePack",
    "EvidenceRequest",
    "TaskMode",
]
