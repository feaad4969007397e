"""A planner that takes the settings of thinking one by one."""

from google.adk.agents import LlmAgent
from google.adk.planners import BuiltInPlanner, PlanReActPlanner


def make_planning_agent(model):
    return LlmAgent(name="planner", model=model, planner=PlanReActPlanner())


def make_thinking_agent(model):
    return LlmAgent(name="thinker", model=model, planner=BuiltInPlanner(thinking_budget=512, include_thoughts=True))
