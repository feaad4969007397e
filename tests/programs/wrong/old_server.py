"""A web server that was written for an early version."""

import os

import uvicorn
from google.adk.agents import LlmAgent, SequentialAgent  # wrong: deprecated-name Workflow takes its place
from google.adk.cli.fast_api import AgentRunRequest, get_fast_api_app  # wrong: unknown-import the request moved to another module
from google.adk.events import EventAction  # wrong: unknown-import the class is EventActions
from google.adk.tools.function_parameter_parse_util import _parse_schema_from_parameter  # wrong: unknown-import the module is private now

app = get_fast_api_app(
    agent_dir=os.getcwd(),  # wrong: unknown-keyword the parameter is agents_dir
    web=True,
)

steps = [LlmAgent(name="first", model="gemini-2.5-flash"), LlmAgent(name="second", model="gemini-2.5-flash")]


@app.post("/again")
def again(request: AgentRunRequest) -> dict:
    return {"session": request.session_id, "next": EventAction(transfer_to_agent="second").transfer_to_agent}


if __name__ == "__main__":
    print(SequentialAgent(name="steps", sub_agents=steps), _parse_schema_from_parameter)
    uvicorn.run(app, host="127.0.0.1", port=8000)
