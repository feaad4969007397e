"""The method takes the code itself, and is asynchronous."""

import re

from google.adk.agents import LlmAgent
from google.adk.code_executors import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult


class Sums(BaseCodeExecutor):
    error_retry_attempts: int = 1

    async def execute_code(self, code):
        if not re.fullmatch(r"\d+( *\+ *\d+)*", code.strip()):
            return CodeExecutionResult(stderr="only sums")
        return CodeExecutionResult(stdout=str(sum(int(number) for number in code.split("+"))))


def make_agent(model):
    return LlmAgent(name="calculator", model=model, code_executor=Sums())
