"""Skills of a folder, one of which brings a tool."""

from google.adk.agents import LlmAgent
from google.adk.skills import load_skills_from_dir
from google.adk.tools.skill_toolset import SkillToolset


def convert(amount: float, rate: float) -> dict:
    """Converts an amount of money."""
    return {"converted": amount * rate}


def make_agent(model, folder):
    skills = load_skills_from_dir(folder)
    return LlmAgent(name="assistant", model=model, tools=[SkillToolset(skills=skills, additional_tools=[convert])])
