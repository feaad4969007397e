"""Twenty small programming tasks for the ADK, and what an agent reads to solve them: `python -m tests.tasks`.

Each folder here is a task:

- `task.md` is all that the agent is given;
- `check.py` imports the agent's `solution.py` and runs it against the real ADK, with a scripted model and no network;
- `reference.py` is a solution, and `wrong.py` is a plausible one that does not work; `test_tasks.py` runs the check on
  both.

Checks need the environment `.venv-adk`. The two look-up commands print what an agent asks for and count it in a log.
"""
