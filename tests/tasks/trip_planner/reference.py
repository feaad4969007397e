"""The two planners of the ADK."""

from google.adk.agents import LlmAgent
from google.adk.planners import BuiltInPlanner, PlanReActPlanner
from google.genai import types


def make_planning_agent(model):
    return LlmAgent(name="planner", model=model, planner=PlanReActPlanner())


def make_thinking_agent(model):
    thinking = types.ThinkingConfig(thinking_budget=512, include_thoughts=True)
    return LlmAgent(name="thinker", model=model, planner=BuiltInPlanner(thinking_config=thinking))
