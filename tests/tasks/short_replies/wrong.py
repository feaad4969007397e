"""A function with the parameters of an evaluator's method, and a threshold where there is none any more."""

from google.adk.agents.common_configs import CodeConfig
from google.adk.evaluation.eval_config import CustomMetricConfig, EvalConfig
from google.adk.evaluation.eval_metrics import EvalStatus
from google.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult

THRESHOLD = 0.75


def short_replies(actual_invocations, expected_invocations=None):
    results = []
    for turn in actual_invocations:
        score = 1.0 if len(turn.final_response.parts[0].text.split()) <= 20 else 0.0
        status = EvalStatus.PASSED if score else EvalStatus.FAILED
        results.append(PerInvocationResult(actual_invocation=turn, score=score, eval_status=status))
    overall = sum(result.score for result in results) / len(results)
    status = EvalStatus.PASSED if overall >= THRESHOLD else EvalStatus.FAILED
    return EvaluationResult(overall_score=overall, overall_eval_status=status, per_invocation_results=results)


def make_config():
    return EvalConfig(
        criteria={"short_replies": THRESHOLD, "tool_trajectory_avg_score": 1.0},
        custom_metrics={"short_replies": CustomMetricConfig(code_config=CodeConfig(name="solution.short_replies"))},
    )
