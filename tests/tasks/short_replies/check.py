"""The measure as the evaluation finds it by the configuration."""

# What finds it needs packages for evaluation that are not installed here; this is what is found.
from google.adk.evaluation.custom_metric_evaluator import _CustomMetricEvaluator
from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from google.adk.evaluation.eval_metrics import EvalStatus
from google.genai import types

SHORT = "It is sunny."
LONG = "word " * 21


def turn(reply):
    def content(text, role):
        return types.Content(role=role, parts=[types.Part(text=text)])

    return Invocation(user_content=content("Hi", "user"), final_response=content(reply, "model") if reply else None)


async def check(solution):
    config = solution.make_config()
    assert isinstance(config, EvalConfig), "This is not a configuration of an evaluation."
    metrics = {metric.metric_name: metric for metric in get_eval_metrics_from_config(config)}
    assert {"short_replies", "tool_trajectory_avg_score"} <= set(metrics), "A measure is missing."
    metric = metrics["short_replies"]
    assert metric.criterion.threshold == 0.75, "The threshold is another one."
    assert metrics["tool_trajectory_avg_score"].criterion.threshold == 1.0, "Tools may differ."

    async def evaluate(*replies, threshold=0.75):
        metric.criterion.threshold = threshold
        turns = [turn(reply) for reply in replies]
        return await _CustomMetricEvaluator(metric, metric.custom_function_path).evaluate_invocations(turns, None)

    good = await evaluate(SHORT, SHORT, SHORT, LONG)
    assert good.overall_score == 0.75 and good.overall_eval_status == EvalStatus.PASSED, "Three of four should pass."
    assert [one.score for one in good.per_invocation_results] == [1.0, 1.0, 1.0, 0.0], "The turns' scores are wrong."
    assert good.per_invocation_results[3].eval_status == EvalStatus.FAILED, "The status of the long turn is wrong."
    stricter = await evaluate(SHORT, SHORT, SHORT, LONG, threshold=0.9)
    assert stricter.overall_eval_status == EvalStatus.FAILED, "The threshold that was given does not count."
    bad = await evaluate(SHORT, None)
    assert bad.overall_score == 0.5 and bad.overall_eval_status == EvalStatus.FAILED, "A missing reply is no short one."
