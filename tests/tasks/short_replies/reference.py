"""A custom metric and the configuration that names it."""

from statistics import mean

from google.adk.agents.common_configs import CodeConfig
from google.adk.evaluation.eval_config import CustomMetricConfig, EvalConfig
from google.adk.evaluation.eval_metrics import EvalStatus
from google.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult


def short_replies(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    results = []
    for turn in actual_invocations:
        reply = turn.final_response
        text = " ".join(part.text or "" for part in reply.parts or []) if reply else ""
        score = 1.0 if 0 < len(text.split()) <= 20 else 0.0
        status = EvalStatus.PASSED if score else EvalStatus.FAILED
        results.append(PerInvocationResult(actual_invocation=turn, score=score, eval_status=status))
    overall = mean(result.score for result in results)
    passed = overall >= eval_metric.criterion.threshold
    return EvaluationResult(
        overall_score=overall,
        overall_eval_status=EvalStatus.PASSED if passed else EvalStatus.FAILED,
        per_invocation_results=results,
    )


def make_config():
    return EvalConfig(
        criteria={"short_replies": 0.75, "tool_trajectory_avg_score": 1.0},
        custom_metrics={"short_replies": CustomMetricConfig(code_config=CodeConfig(name="solution.short_replies"))},
    )
