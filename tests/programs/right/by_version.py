"""Chooses names by what is installed."""

import importlib
import importlib.util
import sys

from google.adk import __version__
from google.adk.agents import LlmAgent

MAJOR = int(__version__.split(".")[0])

if MAJOR >= 2:
    from google.adk.workflow import Workflow
else:
    from google.adk.evaluation.agent_evaluator import DEFAULT_CRITERIA as Workflow

if importlib.util.find_spec("google.adk.ancient"):
    from google.adk.ancient import relic
else:
    relic = None

try:
    from google.adk.telemetry import trace_tool_response as trace
except Exception:
    trace = print

try:
    import google.adk.flows.audio_flow as audio
except ModuleNotFoundError:
    audio = None

tools = importlib.import_module("google.adk.tools")
exit_loop = getattr(tools, "exit_loop", None)

agent = LlmAgent(name="version", model="gemini-2.5-flash")
if "planner" in LlmAgent.model_fields:
    agent.planner = None
if "prompt" in LlmAgent.model_fields:
    agent.prompt = "Be kind."
try:
    agent.canonical_voice
except AttributeError:
    print(Workflow, relic, trace, audio, exit_loop, sys.version_info)
