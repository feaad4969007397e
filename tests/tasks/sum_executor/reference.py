"""A code executor that adds."""

import re

from google.adk.agents import LlmAgent
from google.adk.code_executors import BaseCodeExecutor
from google.adk.code_executors.code_execution_utils import CodeExecutionResult


class Sums(BaseCodeExecutor):
    error_retry_attempts: int = 1

    def execute_code(self, invocation_context, code_execution_input):
        code = code_execution_input.code.strip()
        if not re.fullmatch(r"\d+( *\+ *\d+)*", code):
            return CodeExecutionResult(stderr="only sums")
        return CodeExecutionResult(stdout=str(sum(int(number) for number in code.split("+"))))


def make_agent(model):
    return LlmAgent(name="calculator", model=model, code_executor=Sums())
