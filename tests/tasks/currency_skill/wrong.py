"""The function stands beside the skills, so that the model has it from the start."""

from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.skills import load_skill_from_dir
from google.adk.tools.skill_toolset import SkillToolset


def convert(amount: float, rate: float) -> dict:
    """Converts an amount of money."""
    return {"converted": amount * rate}


def make_agent(model, folder):
    skills = [load_skill_from_dir(path) for path in sorted(Path(folder).iterdir()) if path.is_dir()]
    return LlmAgent(name="assistant", model=model, tools=[SkillToolset(skills=skills), convert])
